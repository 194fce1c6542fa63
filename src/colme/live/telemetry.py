"""Telemetry: what nodes report, as a page that Prometheus reads.

Holds the only use of `prometheus_client`, with a registry of its own.  Must not know nodes, only
their latest reports.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from threading import Thread
from typing import Any
from wsgiref.simple_server import WSGIServer

try:
    from prometheus_client import CollectorRegistry, start_http_server
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
except ImportError:
    raise ImportError("metrics need prometheus-client: pip install 'colme[live]'") from None

from colme.live.addresses import is_local, split_address

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
_COUNTERS = {
    "samples": ("colme_samples", "Samples that the agent has taken, over all its restarts"),
    "ticks": ("colme_ticks", "Ticks since the node was started"),
    "skipped": ("colme_ticks_skipped", "Ticks skipped because the one before took too long"),
}
_QUANTILES = {"p50": "0.5", "p99": "0.99"}


class _Collector:
    """Turns reports into metrics whenever the page is read."""

    def __init__(self, reports: Reports) -> None:
        self._reports = reports

    def collect(self) -> Iterator[Metric]:
        """Give all metrics, as the reports are now."""
        reports = list(self._reports())
        totals = [{"ticks": 0, "skipped": 0} | dict(one["messages"]) | dict(one) for one in reports]
        for word, (name, meaning) in _GAUGES.items():
            gauge = GaugeMetricFamily(name, meaning, labels=_LABELS)
            yield _filled(gauge, reports, [{(): report[word]} for report in reports])
        for word, (name, meaning) in _COUNTERS.items():
            counter = CounterMetricFamily(name, meaning, labels=_LABELS)
            yield _filled(counter, reports, [{(): total[word]} for total in totals])
        meaning = "Queries asked and answered since the node was started, by kind"
        yield _filled(
            CounterMetricFamily("colme_messages", meaning, labels=(*_LABELS, "kind")),
            reports,
            [_labelled(one["messages"], without=_COUNTERS) for one in reports],
        )
        meaning = "What was refused since the node was started, by reason"
        yield _filled(
            CounterMetricFamily("colme_refused", meaning, labels=(*_LABELS, "reason")),
            reports,
            [_labelled(one["refused"]) for one in reports],
        )
        meaning = "Seconds from a query to its reply, of the latest ones, by quantile"
        delays = [one.get("delay", {}) for one in reports]
        yield _filled(
            GaugeMetricFamily("colme_query_seconds", meaning, labels=(*_LABELS, "quantile")),
            reports,
            [{(_QUANTILES[p],): one[p] for p in _QUANTILES if p in one} for one in delays],
        )


def _labelled(
    values: Mapping[str, float], without: Container[str] = ()
) -> dict[tuple[str, ...], float | None]:
    return {(label,): value for label, value in values.items() if label not in without}


def _filled(
    family: GaugeMetricFamily | CounterMetricFamily,
    reports: Sequence[Mapping[str, Any]],
    values: Sequence[Mapping[tuple[str, ...], float | None]],
) -> Metric:
    """Return a metric with the values of each report, by the labels that they add."""
    for report, found in zip(reports, values, strict=True):
        for labels, value in found.items():
            if value is not None:
                family.add_metric((report["fleet"], report["agent"], *labels), value)
    return family


class Metrics:
    """A page of metrics that is served until closed.

    Examples
    --------
    >>> metrics = serve_metrics("127.0.0.1:0", lambda: [])
    >>> metrics.port > 0
    True
    >>> metrics.close()
    """

    def __init__(self, server: WSGIServer, thread: Thread) -> None:
        self._server, self._thread = server, thread

    @property
    def port(self) -> int:
        """The port of the page."""
        return self._server.server_port

    def close(self) -> None:
        """Stop serving the page."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def serve_metrics(address: str, reports: Reports, insecure: bool = False) -> Metrics:
    """Serve what nodes report as metrics, at that address only.

    Parameters
    ----------
    address
        HOST:PORT on this machine; with port 0 the system chooses one.
    reports
        Returns the latest report of each node, see `Node.report`.  Other threads than the nodes'
        call it, so it must not touch a node.
    insecure
        Allow an address that other machines can reach: anybody there may read everything.

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
    if not insecure and not is_local(host):
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
