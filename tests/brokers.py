"""A real MQTT broker in the same process, and a client that publishes to it."""

import asyncio
import json
import socket
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from amqtt.broker import Broker  # type: ignore[import-untyped]
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion

NAME = "rooms/north"


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
