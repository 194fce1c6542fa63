"""Seals prove who said what, whichever way it came."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding
from issued_keys import forge

from colme import Reply
from colme.live.keys import Authority, Identity
from colme.live.keys.certificates import certify_device, new_key, verify
from colme.live.keys.files import read_certificate, read_key
from colme.live.wire import MOST_BYTES, Refused, SealedReply, WireReply, decode, encode


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority.create(tmp_path / "keys", "lab")


@pytest.fixture
def pair(authority: Authority) -> tuple[Identity, Identity]:
    a, b = (Identity.load(folder) for folder in authority.issue_all(["a", "b"]))
    return a, b


def reason_of(identity: Identity, sealed: SealedReply, context: bytes = b"") -> str:
    with pytest.raises(Refused) as refusal:
        identity.open(sealed, context)
    assert len(str(refusal.value)) <= 200
    return refusal.value.reason


def test_a_seal_names_who_made_it_after_a_trip_over_the_wire(
    pair: tuple[Identity, Identity],
) -> None:
    a, b = pair
    told = encode(WireReply(7, 9, Reply("a", 0.1, 3, 0.5, (0.25, 2.0, 1.5))))
    frame = encode(a.seal(told, b"b asks a"))
    assert len(frame) < MOST_BYTES / 4
    arrived = decode(frame)
    assert isinstance(arrived, SealedReply)
    assert b.open(arrived, b"b asks a") == "a"
    assert a.open(arrived, b"b asks a") == "a"
    assert decode(arrived.payload) == decode(told)


def test_a_seal_holds_for_its_payload_and_context_alone(pair: tuple[Identity, Identity]) -> None:
    a, b = pair
    sealed = a.seal(b"payload", b"context")
    other = b.seal(b"payload", b"context")
    assert reason_of(b, sealed, b"contex") == "forged"
    assert reason_of(b, sealed, b"") == "forged"
    changed = SealedReply(b"Payload", sealed.certificate, sealed.signature)
    assert reason_of(b, changed, b"context") == "forged"
    shifted = SealedReply(b"tpayload", sealed.certificate, sealed.signature)
    assert reason_of(b, shifted, b"contex") == "forged"
    in_our_name = SealedReply(b"payload", sealed.certificate, other.signature)
    assert reason_of(b, in_our_name, b"context") == "forged"


def test_strangers_open_nothing(
    authority: Authority, pair: tuple[Identity, Identity], tmp_path: Path
) -> None:
    _, b = pair
    for fleet in ("lab", "other"):
        foreign = Authority.create(tmp_path / f"foreign-{fleet}", fleet)
        stranger = Identity.load(foreign.issue("a"))
        assert reason_of(b, stranger.seal(b"payload", b"")) == "stranger"
    authority_itself = read_certificate(authority.folder / "ca.pem").public_bytes(Encoding.DER)
    assert reason_of(b, SealedReply(b"payload", authority_itself, b"x")) == "stranger"


@pytest.mark.parametrize("start", [-40, 3])
def test_a_seal_of_a_certificate_that_has_ended_or_not_begun_is_a_strangers(
    authority: Authority, pair: tuple[Identity, Identity], start: int
) -> None:
    a, b = pair
    day = datetime.now(UTC) + timedelta(days=start)
    certificate, _ = forge(authority, "a", start=day, days=30)
    sealed = SealedReply(b"payload", certificate.public_bytes(Encoding.DER), b"x")
    for _ in range(2):  # what is remembered is judged by the clock, too
        assert reason_of(b, sealed) == "stranger"
    assert b.open(a.seal(b"payload", b""), b"") == "a"


def test_a_device_cannot_vouch_for_another(
    authority: Authority, pair: tuple[Identity, Identity]
) -> None:
    a, b = pair
    key = new_key()
    child = certify_device(
        "b",
        key.public_key(),
        read_certificate(a.folder / "device.pem"),
        read_key(a.folder / "device.key"),
    )
    sealed = SealedReply(b"payload", child.public_bytes(Encoding.DER), b"x")
    assert reason_of(b, sealed) == "stranger"


def test_whatever_bytes_are_in_a_seal_it_is_opened_or_refused(
    pair: tuple[Identity, Identity],
) -> None:
    a, b = pair
    rng = random.Random(0)
    whole = a.seal(b"payload", b"")

    def spoiled(part: bytes) -> bytes:
        changed = bytearray(part)
        for _ in range(rng.randrange(1, 4)):
            changed[rng.randrange(len(changed))] = rng.choice((0, 255, rng.randrange(256)))
        cut = rng.choice((len(part), len(part), rng.randrange(1, len(part))))
        return rng.choice((bytes(changed)[:cut], rng.randbytes(rng.randrange(1, 600))))

    for _ in range(3000):
        certificate = spoiled(whole.certificate)
        if certificate != whole.certificate:
            assert reason_of(b, SealedReply(b"payload", certificate, whole.signature)) == "stranger"
        signature = spoiled(whole.signature)
        if signature != whole.signature:
            assert reason_of(b, SealedReply(b"payload", whole.certificate, signature)) == "forged"


def test_strangers_take_no_room_among_the_remembered(pair: tuple[Identity, Identity]) -> None:
    a, b = pair
    sealed = a.seal(b"payload", b"")
    b.open(sealed, b"")
    before = verify.cache_info()
    reason_of(b, SealedReply(b"payload", b"nonsense", b"x"))
    b.open(sealed, b"")
    after = verify.cache_info()
    assert (after.currsize, after.hits) == (before.currsize, before.hits + 1)
    assert after.maxsize is not None
