"""Telemetry: what nodes report, as a page that Prometheus reads.

Lives here: the only use of `prometheus_client`, with a registry of its own.  Must not know nodes:
only their latest reports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from threading import Thread
from typing import Any
from wsgiref.simple_server import WSGIServer

try:
    from prometheus_client import CollectorRegistry, start_http_server
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
except ImportError:
    raise ImportError(
        "metrics are told with prometheus-client: pip install 'colme[live]'"
    ) from None

from colme.live.addresses import split_address, stays_here

__all__ = ["Metrics", "serve_metrics"]

Reports = Callable[[], Iterable[Mapping[str, Any]]]

_LABELS = ("fleet", "agent")
_GAUGES = {
    "estimate": ("colme_estimate", "Current estimate of the agent's mean"),
    "mean": ("colme_local_mean", "Mean of the agent's own samples"),
    "class_size": ("colme_class_size", "Agents that may share the agent's mean"),
    "likely_size": ("colme_likely_class_size", "Agents that probably share the agent's mean"),
    "known": ("colme_peers_known", "Peers that the agent remembers"),
    "present": ("colme_peers_present", "Peers that are in the fleet now"),
}
_TICKS = {
    "ticks": ("colme_ticks", "Ticks since the node was started"),
    "skipped": ("colme_ticks_skipped", "Ticks left out because the one before took too long"),
}
_QUANTILES = {"p50": "0.5", "p99": "0.99"}


class _Collector:
    """Turns reports into metrics whenever the page is read."""

    def __init__(self, reports: Reports) -> None:
        self._reports = reports

    def collect(self) -> Iterator[Metric]:
        """Give all metrics, as the reports are now."""
        reports = list(self._reports())
        yield self._samples(reports)
        for word, (name, meaning) in _GAUGES.items():
            yield _filled(GaugeMetricFamily(name, meaning, labels=_LABELS), reports, word)
        for word, (name, meaning) in _TICKS.items():
            counts = [{**report, word: report["messages"].get(word, 0)} for report in reports]
            yield _filled(CounterMetricFamily(name, meaning, labels=_LABELS), counts, word)
        yield self._messages(reports)
        yield self._refused(reports)
        yield self._delays(reports)

    def _samples(self, reports: Sequence[Mapping[str, Any]]) -> Metric:
        meaning = "Samples that the agent has taken, over all its restarts"
        return _filled(
            CounterMetricFamily("colme_samples", meaning, labels=_LABELS), reports, "samples"
        )

    def _messages(self, reports: Sequence[Mapping[str, Any]]) -> Metric:
        meaning = "Questions asked and answered since the node was started, by kind"
        family = CounterMetricFamily("colme_messages", meaning, labels=(*_LABELS, "kind"))
        for report in reports:
            for kind, count in report["messages"].items():
                if kind not in _TICKS:
                    family.add_metric((*_who(report), kind), count)
        return family

    def _refused(self, reports: Sequence[Mapping[str, Any]]) -> Metric:
        meaning = "What was refused since the node was started, by reason"
        family = CounterMetricFamily("colme_refused", meaning, labels=(*_LABELS, "reason"))
        for report in reports:
            for reason, count in report["refused"].items():
                family.add_metric((*_who(report), reason), count)
        return family

    def _delays(self, reports: Sequence[Mapping[str, Any]]) -> Metric:
        meaning = "Seconds from a question to its answer, of the latest ones, by quantile"
        family = GaugeMetricFamily("colme_query_seconds", meaning, labels=(*_LABELS, "quantile"))
        for report in reports:
            for word, seconds in report.get("delay", {}).items():
                if word in _QUANTILES:
                    family.add_metric((*_who(report), _QUANTILES[word]), seconds)
        return family


def _who(report: Mapping[str, Any]) -> tuple[str, str]:
    return report["fleet"], report["agent"]


def _filled(
    family: GaugeMetricFamily | CounterMetricFamily, reports: Sequence[Mapping[str, Any]], word: str
) -> Metric:
    """Return a metric with the value of each report that has one."""
    for report in reports:
        if report[word] is not None:
            family.add_metric(_who(report), report[word])
    return family


class Metrics:
    """A page of metrics that is being served, until closed.

    Examples
    --------
    >>> Metrics.__name__
    'Metrics'
    """

    def __init__(self, server: WSGIServer, thread: Thread) -> None:
        self._server, self._thread = server, thread

    @property
    def port(self) -> int:
        """Where the page is."""
        return self._server.server_port

    def close(self) -> None:
        """Serve the page no more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def serve_metrics(address: str, reports: Reports, insecure: bool = False) -> Metrics:
    """Serve what nodes report as metrics, at that address only.

    Parameters
    ----------
    address
        HOST:PORT on this machine; port 0 lets the system choose.
    reports
        Returns the latest report of each node, see `Node.report`.  It is called by other threads
        than the nodes', so it gives what was reported last and asks no node anything.
    insecure
        Allow an address that other machines can reach: whoever does may read all.

    Examples
    --------
    >>> from urllib.request import urlopen
    >>> metrics = serve_metrics("127.0.0.1:0", lambda: [])
    >>> with urlopen(f"http://127.0.0.1:{metrics.port}/metrics") as page:
    ...     "colme_estimate" in page.read().decode()
    True
    >>> metrics.close()
    >>> serve_metrics("0.0.0.0:9100", lambda: [])
    Traceback (most recent call last):
    ValueError: metrics are for this machine, like 127.0.0.1:9100; received 0.0.0.0:9100: let \
anybody read them with --insecure
    """
    host, port = split_address(address)
    if not insecure and not stays_here(host):
        raise ValueError(
            f"metrics are for this machine, like 127.0.0.1:9100; received {address}: let anybody "
            "read them with --insecure"
        )
    registry = CollectorRegistry()
    registry.register(_Collector(reports))
    try:
        server, thread = start_http_server(port, host, registry)
    except OSError as error:
        raise OSError(f"cannot serve metrics at {address}: {error.strerror or error}") from None
    return Metrics(server, thread)
