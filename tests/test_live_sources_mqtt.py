"""MQTT topics, against a real broker in the same process."""

import asyncio
import gc
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from brokers import NAME, broker, certificate, eventually, free_port, hub

from colme.live.sources import MqttSource, Sample
from colme.live.sources.mqtt_source import MOST_AHEAD

pytestmark = [  # the broker leaves connections open, the library a socket that TLS refused
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:loop is closed:ResourceWarning"),
]


@pytest.fixture(autouse=True)
def _collected() -> Iterator[None]:
    """Drop here what was left open, so that no other test is blamed for it."""
    yield
    gc.collect()


async def take(samples: AsyncIterator[Sample], *values: float) -> str:
    position = ""
    for value in values:
        sample = await asyncio.wait_for(anext(samples), 5)
        assert sample.value == value
        position = sample.position
    return position


def record(number: int) -> dict[str, int]:
    return {"value": number, "sequence": number}


def test_messages_are_acknowledged_once_they_are_durable_and_bad_ones_at_once() -> None:
    async def run() -> None:
        notes: list[str] = []
        async with hub() as here:
            source = MqttSource(here.url, client_id="node", on_bad=notes.append)
            samples = source.samples(None)
            first = asyncio.ensure_future(anext(samples))
            await here.subscribed()
            await here.publish("warm")
            await eventually(lambda: len(notes) == 1)
            await eventually(lambda: here.n_unacknowledged() == 0)
            await here.publish(1, {"value": 2}, "{}")
            assert (await asyncio.wait_for(first, 5)).value == 1
            position = await take(samples, 2)
            assert here.n_unacknowledged() == 3
            await source.acknowledge(position)
            await eventually(lambda: here.n_unacknowledged() == 0)
            await source.close()
        assert ["received 'warm'" in note for note in notes] == [True, False]

    asyncio.run(run())


def test_after_a_crash_a_sequence_tells_what_is_durable_already() -> None:
    async def run() -> None:
        async with hub() as here:
            samples = MqttSource(here.url, client_id="node").samples(None)
            first = asyncio.ensure_future(anext(samples))
            await here.subscribed()
            await here.publish(*map(record, range(5)))
            await asyncio.wait_for(first, 5)
            position = await take(samples, 1, 2)  # durable, but the broker does not hear of it
            await take(samples, 3, 4)
            await samples.aclose()  # type: ignore[attr-defined]
            await here.publish(*map(record, range(5, 8)))
            notes: list[str] = []
            again = MqttSource(here.url, client_id="node", on_bad=notes.append)
            samples = again.samples(position)
            for number in range(3, 8):  # the broker waits with the rest for what it sent before
                await again.acknowledge(await take(samples, number))
            await eventually(lambda: here.n_unacknowledged() == 0)
            await again.close()
            assert notes == []

    asyncio.run(run())


def test_after_a_crash_messages_without_a_sequence_come_at_least_once() -> None:
    async def run() -> None:
        async with hub() as here:
            samples = MqttSource(here.url, client_id="node").samples(None)
            first = asyncio.ensure_future(anext(samples))
            await here.subscribed()
            await here.publish(1, 2)
            await asyncio.wait_for(first, 5)
            position = await take(samples, 2)
            await samples.aclose()  # type: ignore[attr-defined]
            again = MqttSource(here.url, client_id="node")
            await again.acknowledge(await take(again.samples(position), 1, 2))
            await again.close()

    asyncio.run(run())


def test_a_lost_connection_doubles_nothing() -> None:
    async def run() -> None:
        async with hub() as here:
            source = MqttSource(here.url, client_id="node")
            samples = source.samples(None)
            first = asyncio.ensure_future(anext(samples))
            await here.subscribed()
            await here.publish(1, 1, 2)
            await asyncio.wait_for(first, 5)
            position = await take(samples, 1)  # the third has arrived and waits
            await eventually(lambda: source._arrived.qsize() == 1)
            await here.cut()
            await source.acknowledge(position)  # there is no one to tell
            position = await take(samples, 2)
            await source.acknowledge(position)
            await eventually(lambda: here.n_unacknowledged() == 0)  # told after they came again
            await here.publish(3)
            await take(samples, 3)
            await source.close()

    asyncio.run(run())


def test_a_retained_message_counts_only_with_a_sequence_that_is_new() -> None:
    async def run() -> None:
        async with hub() as here:
            for retained, new, expected in ((7, 8, [8]), (record(7), record(8), [7, 8])):
                await here.publish(retained, retain=True)
                source = MqttSource(here.url, client_id="node")
                samples = source.samples(None)
                first = asyncio.ensure_future(anext(samples))
                await here.subscribed()
                await asyncio.sleep(0.05)
                await here.publish(new)
                assert (await asyncio.wait_for(first, 5)).value == expected[0]
                await source.acknowledge(
                    await take(samples, *expected[1:]) or first.result().position
                )
                await source.close()

    asyncio.run(run())


def test_messages_are_not_taken_ahead_without_limit() -> None:
    n_messages = MOST_AHEAD + 60

    async def run() -> None:
        async with hub() as here:
            source = MqttSource(here.url, client_id="node")
            samples = source.samples(None)
            first = asyncio.ensure_future(anext(samples))
            await here.subscribed()
            await here.publish(*range(n_messages))
            await asyncio.wait_for(first, 5)
            await eventually(lambda: source._arrived.qsize() >= MOST_AHEAD)
            await asyncio.sleep(0.02)
            assert source._arrived.qsize() <= MOST_AHEAD + 1
            await source.acknowledge(await take(samples, *range(1, n_messages)))
            await eventually(lambda: here.n_unacknowledged() == 0)
            await source.close()

    asyncio.run(run())


async def end_within(source: MqttSource, reading: "asyncio.Future[Sample]", seconds: float) -> None:
    async with asyncio.timeout(seconds):
        await source.close()
        (end,) = await asyncio.gather(reading, return_exceptions=True)
    assert isinstance(end, StopAsyncIteration)


def test_a_broker_that_refuses_or_is_away_is_told_and_holds_no_one_up() -> None:
    async def run() -> None:
        notes: list[str] = []
        async with broker() as (_, port):
            for url, note in (
                (f"mqtt://127.0.0.1:{port}/{NAME}", "refuses the connection: Not authorized"),
                (f"mqtt://node@127.0.0.1:{free_port()}/{NAME}", "cannot be reached: trying again"),
            ):
                source = MqttSource(url, client_id="node", on_bad=notes.append)
                reading = asyncio.ensure_future(anext(source.samples(None)))
                await eventually(lambda note=note: any(note in told for told in notes))  # type: ignore[misc]
                await end_within(source, reading, 1.5)

    asyncio.run(run())


@pytest.mark.parametrize("is_known", [True, False])
def test_a_secure_broker_must_be_vouched_for(is_known: bool, tmp_path: Path) -> None:
    path = certificate(tmp_path)

    async def run() -> None:
        notes: list[str] = []
        async with broker(ssl=True, certfile=str(path), keyfile=str(path)) as (running, port):
            url = f"mqtts://node@127.0.0.1:{port}/{NAME}"
            ca_file = path if is_known else None
            source = MqttSource(url, client_id="node", ca_file=ca_file, on_bad=notes.append)
            reading = asyncio.ensure_future(anext(source.samples(None)))
            await eventually(lambda: bool(notes) or any(running._subscriptions.values()))
            assert bool(notes) is not is_known
            await end_within(source, reading, 1.5)

    asyncio.run(run())
