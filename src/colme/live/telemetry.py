"""Telemetry: what nodes report, as a page that Prometheus reads.

Holds the only use of `prometheus_client`, with a registry of its own.  Must not know nodes, only
their latest reports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

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
_MESSAGES = "Queries asked and answered since the node was started, by kind"
_REFUSED = "What was refused since the node was started, by reason"
_DELAYS = "Seconds from a query to its reply, of the latest ones, by quantile"
_QUANTILES = {"p50": "0.5", "p99": "0.99"}


class _Collector:
    """Turns reports into metrics whenever the page is read."""

    def __init__(self, reports: Reports) -> None:
        self._reports = reports

    def collect(self) -> Iterator[Metric]:
        """Give all metrics, as the reports are now."""
        numbers: dict[str, GaugeMetricFamily | CounterMetricFamily] = {
            word: kind(name, meaning, labels=_LABELS)
            for kind, table in ((GaugeMetricFamily, _GAUGES), (CounterMetricFamily, _COUNTERS))
            for word, (name, meaning) in table.items()
        }
        messages = CounterMetricFamily("colme_messages", _MESSAGES, labels=(*_LABELS, "kind"))
        refused = CounterMetricFamily("colme_refused", _REFUSED, labels=(*_LABELS, "reason"))
        delays = GaugeMetricFamily("colme_query_seconds", _DELAYS, labels=(*_LABELS, "quantile"))
        for report in self._reports():
            whose, counts = (report["fleet"], report["agent"]), report["messages"]
            totals = {"ticks": 0, "skipped": 0} | counts | report
            for word, family in numbers.items():
                if totals[word] is not None:
                    family.add_metric(whose, totals[word])
            for kind, count in counts.items():
                if kind not in _COUNTERS:
                    messages.add_metric((*whose, kind), count)
            for reason, count in report["refused"].items():
                refused.add_metric((*whose, reason), count)
            for word, seconds in report.get("delay", {}).items():
                if word in _QUANTILES and seconds is not None:
                    delays.add_metric((*whose, _QUANTILES[word]), seconds)
        yield from (*numbers.values(), messages, refused, delays)


@contextmanager
def serve_metrics(address: str, reports: Reports, insecure: bool = False) -> Iterator[int]:
    """Serve what nodes report as metrics, at that address only; give the port.

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
    >>> with serve_metrics("127.0.0.1:0", lambda: []) as port:
    ...     with urlopen(f"http://127.0.0.1:{port}/metrics") as page:
    ...         "colme_estimate" in page.read().decode()
    True
    >>> with serve_metrics("0.0.0.0:9100", lambda: []):
    ...     pass
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
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
