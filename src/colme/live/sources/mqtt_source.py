"""Samples from an MQTT topic, one per message.

Lives here: the session with a broker; the only importer of paho-mqtt.  Must not know which
messages are repeated ones, nor nodes.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from colme.live.sources.pending_messages import PendingMessages
from colme.live.sources.sample_source import OnBad, Sample, log_refusal
from colme.live.sources.source_addresses import MqttTopic

if TYPE_CHECKING:
    from paho.mqtt.client import Client, MQTTMessage


MOST_AHEAD = 100
"""Messages taken from the broker ahead of the reader of samples."""

LONGEST_DELAY = 30
"""Maximum seconds between two attempts to reach the broker; the first delays are 1, 2, 4, ..."""

LONGEST_FAREWELL = 1.0
"""Seconds that closing may take: a broker that does not answer must not delay the node's end."""


class MqttSource:
    """The messages of one MQTT topic, each a number or a JSON object with a "value".

    The broker keeps the session under `client_id`, so messages published while the node is down
    wait for it; a message is acknowledged to the broker only once it is durable.

    What it guarantees, for messages published with quality of service 1 or 2 (0 guarantees
    nothing): none is lost for as long as the broker keeps the session.  If the JSON object has a
    "sequence", a whole number that rises with every message and never starts again (nanoseconds
    since 1970 will do), each is delivered exactly once, whatever crashes.  Without it, at least
    once: messages that became durable just before a crash or a lost connection may count twice.
    Retained messages without it are left out, as a broker repeats them to every subscriber.

    Parameters
    ----------
    url
        `mqtt://[user:password@]host[:port]/topic/levels`, or `mqtts://` for TLS.
    client_id
        The name of the session: one for each agent, the same after every restart.
    ca_file
        For `mqtts://`: certificates of the authority that signs the broker's, if not the system's.
    on_bad
        Called with the reason for each message refused, and when the broker cannot be reached.

    Examples
    --------
    >>> MqttSource("mqtt://broker.example/rooms/north/temperature", client_id="north").topic.name
    'rooms/north/temperature'
    """

    def __init__(
        self,
        url: str,
        *,
        client_id: str | None,
        ca_file: str | Path | None = None,
        on_bad: OnBad = log_refusal,
    ) -> None:
        self.topic = MqttTopic.of(url)
        if not client_id:
            raise ValueError(
                f"an MQTT source needs a client_id; received {client_id!r}: give a name that no "
                "other client of the broker has, and the same one after every restart"
            )
        self._client = _client(self.topic, client_id, ca_file)
        self._on_bad = on_bad
        self._pending = PendingMessages()
        self._arrived: asyncio.Queue[Sample | None] = asyncio.Queue()
        self._room = threading.Semaphore(MOST_AHEAD)
        self._is_connected = self._closed = False
        self._loop: asyncio.AbstractEventLoop | None = None

    async def samples(self, resume: str | None) -> AsyncIterator[Sample]:
        """Deliver the messages that are not yet durable, then each one as it is published."""
        self._pending = PendingMessages(resume)
        self._loop = asyncio.get_running_loop()
        self._listen()
        try:
            while (sample := await self._arrived.get()) is not None and not self._closed:
                self._room.release()
                yield sample
        finally:
            await self.close()

    async def acknowledge(self, position: str) -> None:
        """Acknowledge to the broker everything up to `position`."""
        self._pending.acknowledge(position)
        self._send_acknowledgements()

    async def close(self) -> None:
        """Leave the broker, which keeps the session; the iteration over the samples ends."""
        was_closed, self._closed = self._closed, True
        if was_closed or self._loop is None:
            return
        self._arrived.put_nowait(None)
        self._room.release()
        left = asyncio.Event()
        # In a thread of its own that nobody joins: a connection attempt may hold it up.
        threading.Thread(target=self._leave, args=(left,), daemon=True).start()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(left.wait(), LONGEST_FAREWELL)

    def _listen(self) -> None:
        client, host, port = self._client, self.topic.host, self.topic.port
        client.on_connect = self._on_connect
        client.on_connect_fail = lambda *_: self._in_loop(
            self._on_bad, f"the broker of {self.topic} cannot be reached: trying again"
        )
        client.on_disconnect = lambda *_: self._in_loop(self._disconnected)
        client.on_subscribe = self._on_subscribe
        client.on_message = self._on_message
        client.reconnect_delay_set(1, LONGEST_DELAY)
        client.connect_async(host, port)
        client.loop_start()

    # Called in the thread of the library: they only pass the call to the event loop.

    def _in_loop(self, call: Callable[..., None], *arguments: Any) -> None:
        assert self._loop is not None
        with contextlib.suppress(RuntimeError):  # the event loop is closed already
            self._loop.call_soon_threadsafe(call, *arguments)

    def _leave(self, left: asyncio.Event) -> None:
        self._client.disconnect()
        self._client.loop_stop()
        self._in_loop(left.set)

    def _on_connect(self, client: Client, _: Any, flags: Any, reason: Any, __: Any) -> None:
        if reason.is_failure:
            refusal = f"the broker of {self.topic} refuses the connection: {reason}"
            self._in_loop(self._on_bad, refusal)
        else:
            self._in_loop(self._connected, flags.session_present)
            client.subscribe(self.topic.name, qos=1)

    def _on_subscribe(self, _: Client, __: Any, ___: int, reasons: list[Any], ____: Any) -> None:
        if any(reason.is_failure for reason in reasons):
            self._in_loop(self._on_bad, f"the broker refuses the subscription to {self.topic}")

    def _on_message(self, _: Client, __: Any, message: MQTTMessage) -> None:
        self._room.acquire()
        if not self._closed:
            self._in_loop(self._take, message)

    # Called in the event loop.

    def _connected(self, is_same_session: bool) -> None:
        self._is_connected = True
        if not is_same_session:
            self._pending.forget()

    def _disconnected(self) -> None:
        self._is_connected = False
        self._pending.disconnect()

    def _take(self, message: MQTTMessage) -> None:
        identifier, payload = message.mid if message.qos else 0, bytes(message.payload)
        sample = None
        try:
            if message.topic == self.topic.name:
                sample = self._pending.take(
                    identifier, payload, is_marked=message.dup, is_retained=message.retain
                )
            else:  # a subscription of the same session from before
                self._pending.add(identifier, payload)
        except ValueError as error:
            self._on_bad(f"a message of {self.topic}: {error}")
        if sample is not None:
            self._arrived.put_nowait(sample)
        else:
            self._room.release()
        self._send_acknowledgements()

    def _send_acknowledgements(self) -> None:
        if self._is_connected:
            for identifier in self._pending.take_durable():
                self._client.ack(identifier, 1)


def _client(topic: MqttTopic, client_id: str, ca_file: str | Path | None) -> Client:
    try:
        from paho.mqtt.client import Client  # noqa: PLC0415
        from paho.mqtt.enums import CallbackAPIVersion  # noqa: PLC0415
    except ImportError:
        raise ImportError(
            "MQTT topics are read with paho-mqtt: pip install 'colme[mqtt]'"
        ) from None
    version = CallbackAPIVersion.VERSION2
    client = Client(version, client_id, clean_session=False, manual_ack=True)
    if topic.user is not None:
        client.username_pw_set(topic.user, topic.password)
    if topic.is_secure:
        client.tls_set(ca_certs=None if ca_file is None else str(ca_file))
    return client
