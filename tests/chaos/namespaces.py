"""Machines of their own: network namespaces, joined by a switch that loses and spoils packets.

The switch is this process: every namespace has one device, whose packets are read and written here.
It takes what root may do, and removes all it made.
"""

import asyncio
import contextlib
import fcntl
import os
import random
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Self

from chaos.network import Faults

TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000
LONGEST = 2048
"""More than any packet has bytes."""


def missing() -> str:
    """Return what this machine lacks; empty if it lacks nothing."""
    if shutil.which("ip") is None:
        return "the command 'ip' (package iproute2)"
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        return "the right to use /dev/net/tun"
    tried = subprocess.run(["ip", "netns", "add", _name(0)], capture_output=True, check=False)
    subprocess.run(["ip", "netns", "del", _name(0)], capture_output=True, check=False)
    return "" if tried.returncode == 0 else f"the right to make namespaces ({tried.stderr!r})"


class Switch:
    """So many namespaces, numbered from 1, and the way between them, which takes `lag` seconds."""

    def __init__(self, n: int, seed: int = 0) -> None:
        self.faults = Faults()
        self.lag = 0.0
        self.counts = dict.fromkeys(("carried", "cut", "dropped", "repeated", "spoilt"), 0)
        self._rng, self._n = random.Random(seed), n
        self._devices: dict[int, int] = {}
        self._sides: dict[int, int] = {}

    async def __aenter__(self) -> Self:
        for number in range(1, self._n + 1):
            self._devices[number] = self._make(number)
            asyncio.get_running_loop().add_reader(self._devices[number], self._read, number)
        return self

    async def __aexit__(self, *_: object) -> None:
        for number, device in self._devices.items():
            asyncio.get_running_loop().remove_reader(device)
            os.close(device)
            subprocess.run(["ip", "netns", "del", _name(number)], check=False)

    @staticmethod
    def address(number: int, port: int = 0) -> str:
        """Return an address in a namespace: one that no machine on earth has."""
        return f"192.0.2.{number}:{port}"

    @staticmethod
    def wrapper(number: int) -> list[str]:
        """Return what to put before a command that is to run in a namespace."""
        return ["ip", "netns", "exec", _name(number)]

    def part(self, *side: int) -> None:
        """Cut these off from all others."""
        self._sides = dict.fromkeys(side, 1)

    def heal(self) -> None:
        """Carry everything again, and spoil nothing."""
        self._sides, self.faults = {}, Faults()

    def _make(self, number: int) -> int:
        name, device = _name(number), f"colme{number}"
        _ip("netns", "add", name)
        descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        flags = struct.pack("16sH", device.encode(), IFF_TUN | IFF_NO_PI)
        fcntl.ioctl(descriptor, TUNSETIFF, flags)
        _ip("link", "set", device, "netns", name)
        _ip("-n", name, "address", "add", f"192.0.2.{number}/24", "dev", device)
        _ip("-n", name, "link", "set", device, "up")
        _ip("-n", name, "link", "set", "lo", "up")
        return descriptor

    def _read(self, number: int) -> None:
        with contextlib.suppress(BlockingIOError):
            packet = os.read(self._devices[number], LONGEST)
            if packet[0] >> 4 == 4:
                self._carry(number, packet[19], packet)

    def _carry(self, here: int, there: int, packet: bytes) -> None:
        faults, counts = self.faults, self.counts
        if there not in self._devices:
            return
        if self._sides.get(here) != self._sides.get(there):
            counts["cut"] += 1
        elif self._happens(faults.drop, "dropped"):
            pass
        else:
            if self._happens(faults.spoil, "spoilt"):
                packet = self._spoilt(packet)
            for _ in range(1 + self._happens(faults.repeat, "repeated")):
                counts["carried"] += 1
                pause = self.lag + self._rng.uniform(0.0, faults.delay)
                asyncio.get_running_loop().call_later(pause, self._write, there, packet)

    def _happens(self, share: float, what: str) -> bool:
        happens = self._rng.random() < share
        self.counts[what] += happens
        return happens

    def _spoilt(self, packet: bytes) -> bytes:
        place = self._rng.randrange(len(packet))
        flipped = packet[place] ^ 1 << self._rng.randrange(8)
        return packet[:place] + bytes([flipped]) + packet[place + 1 :]

    def _write(self, there: int, packet: bytes) -> None:
        with contextlib.suppress(OSError):  # closed meanwhile, or a packet that is none any more
            os.write(self._devices[there], packet)


def _name(number: int) -> str:
    return f"colme-{os.getpid()}-{number}"


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


def remains() -> list[str]:
    """Return the namespaces of this process that are still there."""
    folder = Path("/run/netns")
    return [one.name for one in folder.glob(f"colme-{os.getpid()}-*")] if folder.exists() else []
