"""Metrics: every number of every report, under its name, to this machine only."""

from __future__ import annotations

from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from local_fleets import REPORT
from prometheus_client.parser import text_string_to_metric_families

from colme.live.telemetry import serve_metrics


def page(port: int) -> str:
    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        return str(answer.read().decode())


def values(text: str) -> dict[tuple[str, ...], float]:
    """Return every value by its metric, agent, and further label."""
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = dict(sample.labels)
            assert labels.pop("fleet") == "demo"
            found[(sample.name, labels.pop("agent"), *labels.values())] = sample.value
    return found


def test_a_page_tells_what_was_reported_last() -> None:
    counted = {"asked": 3, "answered": 2, "heard": 2, "unanswered": 1, "ticks": 9, "skipped": 4}
    reports: list[dict[str, Any]] = [REPORT | {"messages": counted}]
    with serve_metrics("127.0.0.1:0", lambda: reports) as port:
        assert values(page(port)) == {
            ("colme_samples_total", "00"): 4,
            ("colme_estimate", "00"): 0.25,
            ("colme_local_mean", "00"): 0.5,
            ("colme_class_size", "00"): 8,
            ("colme_likely_class_size", "00"): 1,
            ("colme_peers_known", "00"): 11,
            ("colme_peers_present", "00"): 11,
            ("colme_messages_total", "00", "asked"): 3,
            ("colme_messages_total", "00", "answered"): 2,
            ("colme_messages_total", "00", "heard"): 2,
            ("colme_messages_total", "00", "unanswered"): 1,
            ("colme_ticks_total", "00"): 9,
            ("colme_ticks_skipped_total", "00"): 4,
            ("colme_refused_total", "00", "checksum"): 1,
            ("colme_query_seconds", "00", "0.5"): 0.002,
            ("colme_query_seconds", "00", "0.99"): 0.01,
        }
        silent = {key: value for key, value in REPORT.items() if key != "delay"}
        reports[:] = [
            silent | {"agent": "01", "mean": None, "estimate": None, "samples": 0},
            REPORT | {"samples": 5},
        ]
        found = values(page(port))
        assert found["colme_samples_total", "00"] == 5
        assert found["colme_samples_total", "01"] == 0
        assert ("colme_estimate", "01") not in found
        assert ("colme_query_seconds", "01", "0.5") not in found
        assert found["colme_ticks_total", "01"] == 0
    with pytest.raises(URLError, match="refused"):
        page(port)


@pytest.mark.parametrize("address", ["0.0.0.0:0", "192.0.2.1:9100", "example.org:80", "[::]:0"])
def test_metrics_stay_on_this_machine_unless_said_otherwise(address: str) -> None:
    with pytest.raises(ValueError, match=r"metrics are for this machine.*with --insecure"):
        serve_metrics(address, lambda: []).__enter__()


def test_anybody_may_read_if_so_wished() -> None:
    with serve_metrics("0.0.0.0:0", lambda: [REPORT], insecure=True) as port:
        assert "colme_estimate" in page(port)


def test_an_address_that_is_none_or_taken_is_refused() -> None:
    with pytest.raises(ValueError, match="an address is HOST:PORT"):
        serve_metrics("9100", lambda: []).__enter__()
    with (
        serve_metrics("127.0.0.1:0", lambda: []) as port,
        pytest.raises(OSError, match=r"cannot serve metrics at 127.0.0.1:.*in use"),
        serve_metrics(f"127.0.0.1:{port}", lambda: []),
    ):
        pass
