"""MQTT topics, against a real broker in the same process."""

import asyncio
import gc
import json
import socket
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from amqtt.broker import Broker  # type: ignore[import-untyped]
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion

from colme.live.sources import Mqtt, Sample
from colme.live.sources.ledger import Ledger
from colme.live.sources.mqtt import MOST_AHEAD

NAME = "rooms/north"

pytestmark = [  # the broker leaves connections open, the library a socket that TLS refused
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:loop is closed:ResourceWarning"),
]


@pytest.fixture(autouse=True)
def _collected() -> Iterator[None]:
    """Drop here what was left open, so that no other test is blamed for it."""
    yield
    gc.collect()


class Unacknowledged(OrderedDict[int, Any]):
    """Messages on their way: this broker drops them with the connection, which brokers must not."""

    def pop(self, key: int, default: Any = None) -> Any:
        message = self.get(key)
        lost = message is not None and message.puback_packet is None
        return default if lost else super().pop(key, default)


class Hub:
    """A broker, someone who publishes, and a look at what the broker keeps."""

    def __init__(self, port: int, broker: Broker) -> None:
        self.port = port
        self.url = f"mqtt://node:secret@127.0.0.1:{port}/{NAME}"
        self._broker = broker
        self._publisher = Client(CallbackAPIVersion.VERSION2, "publisher")
        self._publisher.username_pw_set("publisher")

    async def publish(self, *payloads: object, retain: bool = False) -> None:
        for payload in payloads:
            text = payload if isinstance(payload, str | bytes) else json.dumps(payload)
            sent = self._publisher.publish(NAME, text, qos=1, retain=retain)
            await asyncio.to_thread(sent.wait_for_publish, 5)

    async def subscribed(self) -> None:
        """Wait until the node's session is there, and make it one that loses nothing."""
        await eventually(lambda: any(self._broker._subscriptions.values()))
        session, _ = self._broker._sessions["node"]
        if not isinstance(session.inflight_out, Unacknowledged):
            session.inflight_out = Unacknowledged()

    def n_unacknowledged(self) -> int:
        return len(self._broker._sessions["node"][0].inflight_out)

    async def cut(self) -> None:
        """Cut the node's connection without a word."""
        writer = self._broker._sessions["node"][1].writer
        assert writer is not None
        writer._writer.transport.abort()
        await asyncio.sleep(0.05)

    async def __aenter__(self) -> "Hub":
        await asyncio.to_thread(self._publisher.connect, "127.0.0.1", self.port)
        self._publisher.loop_start()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._publisher.disconnect()
        await asyncio.to_thread(self._publisher.loop_stop)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@asynccontextmanager
async def broker(**listener: Any) -> AsyncIterator[tuple[Broker, int]]:
    port = free_port()
    bind = {"type": "tcp", "bind": f"127.0.0.1:{port}", **listener}
    only_named = {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": False}}
    running = Broker({"listeners": {"default": bind}, "plugins": only_named})
    await running.start()
    try:
        yield running, port
    finally:
        await running.shutdown()


@asynccontextmanager
async def hub() -> AsyncIterator[Hub]:
    async with broker() as (running, port), Hub(port, running) as found:
        yield found


async def eventually(predicate: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not predicate():
            await asyncio.sleep(0.002)


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
            source = Mqtt(here.url, client_id="node", on_bad=notes.append)
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
            samples = Mqtt(here.url, client_id="node").samples(None)
            first = asyncio.ensure_future(anext(samples))
            await here.subscribed()
            await here.publish(*map(record, range(5)))
            await asyncio.wait_for(first, 5)
            position = await take(samples, 1, 2)  # durable, but the broker does not hear of it
            await take(samples, 3, 4)
            await samples.aclose()  # type: ignore[attr-defined]
            await here.publish(*map(record, range(5, 8)))
            notes: list[str] = []
            again = Mqtt(here.url, client_id="node", on_bad=notes.append)
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
            samples = Mqtt(here.url, client_id="node").samples(None)
            first = asyncio.ensure_future(anext(samples))
            await here.subscribed()
            await here.publish(1, 2)
            await asyncio.wait_for(first, 5)
            position = await take(samples, 2)
            await samples.aclose()  # type: ignore[attr-defined]
            again = Mqtt(here.url, client_id="node")
            await again.acknowledge(await take(again.samples(position), 1, 2))
            await again.close()

    asyncio.run(run())


def test_a_lost_connection_doubles_nothing() -> None:
    async def run() -> None:
        async with hub() as here:
            source = Mqtt(here.url, client_id="node")
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
                source = Mqtt(here.url, client_id="node")
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
            source = Mqtt(here.url, client_id="node")
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


async def end_within(source: Mqtt, reading: "asyncio.Future[Sample]", seconds: float) -> None:
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
                (f"mqtt://node@127.0.0.1:{free_port()}/{NAME}", "cannot be reached; trying again"),
            ):
                source = Mqtt(url, client_id="node", on_bad=notes.append)
                reading = asyncio.ensure_future(anext(source.samples(None)))
                await eventually(lambda note=note: any(note in told for told in notes))  # type: ignore[misc]
                await end_within(source, reading, 1.5)

    asyncio.run(run())


def certificate(place: Path) -> Path:
    """Write a certificate for this machine, with its key, that vouches for itself."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    local = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(local, critical=True)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    secret = key.private_bytes(serialization.Encoding.PEM, *form)
    path = place / "broker.pem"
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM) + secret)
    return path


@pytest.mark.parametrize("is_known", [True, False])
def test_a_secure_broker_must_be_vouched_for(is_known: bool, tmp_path: Path) -> None:
    path = certificate(tmp_path)

    async def run() -> None:
        notes: list[str] = []
        async with broker(ssl=True, certfile=str(path), keyfile=str(path)) as (running, port):
            url = f"mqtts://node@127.0.0.1:{port}/{NAME}"
            ca_file = path if is_known else None
            source = Mqtt(url, client_id="node", ca_file=ca_file, on_bad=notes.append)
            reading = asyncio.ensure_future(anext(source.samples(None)))
            await eventually(lambda: bool(notes) or any(running._subscriptions.values()))
            assert bool(notes) is not is_known
            await end_within(source, reading, 1.5)

    asyncio.run(run())


def test_messages_are_paid_for_in_the_order_of_arrival() -> None:
    ledger = Ledger()
    positions = []
    for number in (1, 2, 3):
        sample = ledger.take(number, b"%d" % number)
        assert sample is not None
        positions.append(sample.position)
    with pytest.raises(ValueError, match="no sample: received 'warm'"):
        ledger.take(4, b"warm")
    assert ledger.payable() == []
    ledger.acknowledge(positions[1])
    assert ledger.payable() == [1, 2]
    ledger.acknowledge(positions[0])
    assert ledger.payable() == []
    ledger.acknowledge(positions[2])
    assert ledger.payable() == [3, 4]


def test_nothing_is_paid_for_before_the_sample_it_repeats_is_durable() -> None:
    ledger = Ledger()
    sample = ledger.take(1, b'{"value": 0.5, "sequence": 7}')
    assert sample is not None
    ledger.disconnect()
    assert ledger.take(2, b'{"value": 0.5, "sequence": 7}', is_marked=True) is None  # another name
    assert ledger.payable() == []
    ledger.acknowledge(sample.position)
    assert ledger.payable() == [2]


def test_a_broker_that_forgot_the_session_is_owed_nothing() -> None:
    ledger = Ledger()
    sample = ledger.take(1, b"0.5")
    assert sample is not None
    ledger.disconnect()
    ledger.forget()
    assert ledger.take(1, b"0.5") is not None  # a new message that looks the same
    ledger.acknowledge(sample.position)
    assert ledger.payable() == []


def test_a_sequence_that_starts_again_is_told() -> None:
    ledger = Ledger.of('{"samples": 3, "sequence": 7}')
    with pytest.raises(ValueError, match="sequence 1 is not above 7, the last one"):
        ledger.take(1, b'{"value": 0.5, "sequence": 1}')
    assert ledger.payable() == [1]
