"""Where an agent's samples come from, with no sample lost and none counted twice where possible.

Lives here: the sources, one per file, each stating what it can promise.  Must not know agents,
nodes, stores or the network between agents.
"""

from colme.live.sources.choosing import source_of
from colme.live.sources.feeding import socket_feed
from colme.live.sources.following import Following
from colme.live.sources.iterating import Iterating
from colme.live.sources.listening import Listening
from colme.live.sources.mqtt import Mqtt
from colme.live.sources.parsing import parse
from colme.live.sources.source import Sample, Source, log_refusal
from colme.live.sources.stdin import StandardInput

__all__ = [
    "Following",
    "Iterating",
    "Listening",
    "Mqtt",
    "Sample",
    "Source",
    "StandardInput",
    "log_refusal",
    "parse",
    "socket_feed",
    "source_of",
]
