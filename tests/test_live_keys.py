"""Keys made here let a fleet's devices in and keep all others out, on a real link, too."""

from __future__ import annotations

import json
import random
import shutil
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import zenoh
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID

from colme import Reply
from colme.live.keys import Authority, Identity
from colme.live.keys.certificates import certify_device, host_names, new_key, verify
from colme.live.keys.files import read_certificate, read_key, write_certificate, write_key
from colme.live.wire import MOST_BYTES, Refused, Sealed, Told, decode, encode


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority.create(tmp_path / "keys", "lab")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def forge(
    authority: Authority, name: str, *, above: Path | None = None, **changes: Any
) -> tuple[x509.Certificate, Any]:
    """Return a certificate signed with an authority's key, as its owner could by other means."""
    folder = above or authority.folder
    key = new_key()
    signed = certify_device(
        name,
        key.public_key(),
        read_certificate(folder / "ca.pem"),
        read_key(folder / "ca.key"),
        **changes,
    )
    return signed, key


def rewrite(folder: Path, certificate: x509.Certificate, key: Any) -> None:
    (folder / "device.key").unlink()
    write_key(folder / "device.key", key)
    write_certificate(folder / "device.pem", certificate)


def test_an_authority_is_private_and_found_again(authority: Authority) -> None:
    assert mode(authority.folder) == 0o700
    assert mode(authority.folder / "ca.key") == 0o600
    again = Authority.open(authority.folder)
    assert (again.fleet, again.members) == ("lab", ())
    assert 3648 <= again.days_left <= 3650


def test_an_authority_may_move_into_an_empty_folder_and_makes_it_private(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    Authority.create(tmp_path, "lab")
    assert mode(tmp_path) == 0o700


def test_an_authority_overwrites_nothing(authority: Authority, tmp_path: Path) -> None:
    before = (authority.folder / "ca.key").read_bytes()
    with pytest.raises(ValueError, match=r"holds an authority already: .* choose another folder"):
        Authority.create(authority.folder, "lab")
    assert (authority.folder / "ca.key").read_bytes() == before
    with pytest.raises(ValueError, match="holds other files: choose a new folder"):
        Authority.create(tmp_path, "lab")


@pytest.mark.parametrize("fleet", ["", "a b", "x" * 65, "a/b"])
def test_a_fleet_has_a_plain_name(fleet: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="fleet must be 1 to 64"):
        Authority.create(tmp_path / "keys", fleet)
    assert not (tmp_path / "keys").exists()


def test_the_longest_names_fit(tmp_path: Path) -> None:
    authority = Authority.create(tmp_path / "keys", "f" * 64)
    assert Identity.load(authority.issue("n" * 64)).name == "n" * 64


def test_an_authority_that_is_not_there_or_broken_is_refused(
    authority: Authority, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=r"no authority in .*ca.pem is missing; 'colme keys init'"):
        Authority.open(tmp_path)
    other = Authority.create(tmp_path / "other", "lab")
    shutil.copy(other.folder / "ca.key", authority.folder / "ca.key")
    with pytest.raises(ValueError, match="do not belong together: restore both"):
        Authority.open(authority.folder)
    (authority.folder / "ca.key").write_text("nonsense")
    with pytest.raises(ValueError, match="holds no private key that 'colme keys' has made"):
        Authority.open(authority.folder)


def test_a_device_gets_all_that_it_needs(authority: Authority) -> None:
    folder = authority.issue("router", hosts=["router.local", "192.168.1.20", "fe80::1"], days=90)
    assert folder == authority.folder / "router"
    assert mode(folder) == 0o700
    assert mode(folder / "device.key") == 0o600
    identity = Identity.load(folder)
    assert (identity.name, identity.fleet, identity.members) == ("router", "lab", ("router",))
    assert identity.days_left in (89, 90)
    assert identity.ca_path.read_bytes() == (authority.folder / "ca.pem").read_bytes()
    certificate = read_certificate(identity.certificate_path)
    assert certificate.subject.rfc4514_string() == "CN=router,O=lab"
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert [str(name.value) for name in names] == [
        "localhost",
        "127.0.0.1",
        "::1",
        "router.local",
        "192.168.1.20",
        "fe80::1",
    ]
    usage = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert set(usage) == {ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH}


def test_every_folder_lists_all_members(authority: Authority) -> None:
    authority.issue("router")
    shutil.rmtree(authority.issue("gone"))
    folders = authority.issue_all(["a", "b"])
    assert authority.members == ("router", "gone", "a", "b")
    for folder in (authority.folder / "router", *folders):
        assert Identity.load(folder).members == authority.members


def test_a_name_is_issued_once_unless_it_is_renewed(authority: Authority) -> None:
    folder = authority.issue("a")
    before = (folder / "device.key").read_bytes()
    with pytest.raises(ValueError, match="'a' has been issued already: choose another name, or"):
        authority.issue("a")
    assert (folder / "device.key").read_bytes() == before
    assert authority.issue("a", renew=True) == folder
    assert (folder / "device.key").read_bytes() != before
    assert Identity.load(folder).members == ("a",)
    shutil.rmtree(folder)  # moved to its device, as it should be
    with pytest.raises(ValueError, match="has been issued already"):
        authority.issue("a")
    assert Identity.load(authority.issue("a", renew=True)).name == "a"
    left = {path.name for path in authority.folder.iterdir()}
    assert left == {"ca.pem", "ca.key", "members", "a"}


@pytest.mark.parametrize(
    ("names", "changes", "message"),
    [
        (["a", "../b"], {}, "name must be 1 to 64"),
        (["a", "b", "a"], {}, "each device has a name of its own"),
        (["a", "members"], {}, "no device can be called 'members'"),
        (["a", "ca.key"], {"renew": True}, "no device can be called 'ca.key'"),
        (["a"], {"days": 0}, "days must be at least 1"),
        (["a"], {"days": 4000}, "cannot be valid for 4000 days: .* ask for fewer"),
        (["a"], {"hosts": ["router:7447"]}, "without a port; received 'router:7447'"),
        (["a"], {"hosts": ["192.168.1.256"]}, r"without a port; received '192.168.1.256'"),
        (["a"], {"hosts": ["*.local"]}, "a host must be a name such as"),
        (["a"], {"hosts": [""]}, "a host must be a name such as"),
        (["a"], {"hosts": ["höhle"]}, "a host must be a name such as"),
        (["a"], {"hosts": [f"h{k}.{'x' * 60}" for k in range(60)]}, "give fewer or shorter hosts"),
    ],
    ids=str,
)
def test_all_devices_are_issued_or_none(
    authority: Authority, names: list[str], changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        authority.issue_all(names, **changes)
    assert authority.members == ()
    left = {path.name for path in authority.folder.iterdir()}
    assert left == {"ca.pem", "ca.key", "members"}


def test_a_host_given_twice_counts_once() -> None:
    assert len(host_names(["localhost", "a.local", "a.local"])) == 4


def test_members_edited_by_hand_are_read_or_refused(authority: Authority) -> None:
    authority.issue_all(["a", "b"])
    (authority.folder / "members").write_text("b \n\nb")  # a no longer belongs to the fleet
    authority.issue("c")
    assert authority.members == ("b", "c")
    (authority.folder / "members").write_bytes(b"b\n\xff\n")
    with pytest.raises(ValueError, match="members must hold one name per line: name must be"):
        authority.issue("d")


def test_devices_issued_at_the_same_time_all_become_members(authority: Authority) -> None:
    text = "import sys; from pathlib import Path; from colme.live.keys import Authority\n"
    text += "authority = Authority.open(Path(sys.argv[1]))\n"
    text += "for k in range(10): authority.issue(f'{sys.argv[2]}{k}')"
    command = [sys.executable, "-c", text, str(authority.folder)]
    processes = [subprocess.Popen([*command, letter]) for letter in "ab"]
    assert [process.wait(60) for process in processes] == [0, 0]
    assert sorted(authority.members) == sorted(f"{a}{k}" for a in "ab" for k in range(10))


@pytest.mark.parametrize("name", ["ca.pem", "device.pem", "device.key", "members"])
def test_an_identity_needs_all_its_files(authority: Authority, name: str) -> None:
    folder = authority.issue("a")
    (folder / name).unlink()
    with pytest.raises(ValueError, match=f"{name} is missing: copy the whole folder"):
        Identity.load(folder)


@pytest.mark.parametrize("name", ["ca.pem", "device.pem", "device.key"])
@pytest.mark.parametrize("content", [b"", b"\xff\x00", b"-----BEGIN CERTIFICATE-----\n"])
def test_an_identity_of_nonsense_is_refused(
    authority: Authority, name: str, content: bytes
) -> None:
    folder = authority.issue("a")
    (folder / name).write_bytes(content)
    with pytest.raises(ValueError, match=f"{name} holds no .*: copy the whole folder"):
        Identity.load(folder)


def test_an_identity_pieced_together_is_refused(authority: Authority, tmp_path: Path) -> None:
    a, b = authority.issue_all(["a", "b"])
    shutil.copy(b / "device.key", a / "device.key")
    with pytest.raises(ValueError, match=r"is not the key of .*: copy the whole folder"):
        Identity.load(a)
    other = Authority.create(tmp_path / "other", "lab")
    shutil.copy(other.folder / "ca.pem", b / "ca.pem")
    with pytest.raises(ValueError, match=r"was not issued by the authority in .*: copy the whole"):
        Identity.load(b)


@pytest.mark.parametrize(("start", "days"), [(-40, 30), (3, 30)])
def test_an_identity_that_has_ended_or_not_begun_is_refused(
    authority: Authority, start: int, days: int
) -> None:
    folder = authority.issue("a")
    day = datetime.now(UTC) + timedelta(days=start)
    rewrite(folder, *forge(authority, "a", start=day, days=days))
    with pytest.raises(ValueError, match=r"is valid from .* not today: .* again with --renew"):
        Identity.load(folder)


def test_an_identity_says_how_many_days_are_left(authority: Authority) -> None:
    folder = authority.issue("a", days=20)
    assert Identity.load(folder).days_left in (19, 20)
    start = datetime.now(UTC) - timedelta(days=29, hours=12)
    rewrite(folder, *forge(authority, "a", start=start, days=30))
    assert Identity.load(folder).days_left == 0


@pytest.fixture
def pair(authority: Authority) -> tuple[Identity, Identity]:
    a, b = (Identity.load(folder) for folder in authority.issue_all(["a", "b"]))
    return a, b


def reason_of(identity: Identity, sealed: Sealed, context: bytes = b"") -> str:
    with pytest.raises(Refused) as refusal:
        identity.open(sealed, context)
    assert len(str(refusal.value)) <= 200
    return refusal.value.reason


def test_a_seal_names_who_made_it_after_a_trip_over_the_wire(
    pair: tuple[Identity, Identity],
) -> None:
    a, b = pair
    told = encode(Told(7, 9, Reply("a", 0.1, 3, 0.5, (0.25, 2.0, 1.5))))
    frame = encode(a.seal(told, b"b asks a"))
    assert len(frame) < MOST_BYTES / 4
    arrived = decode(frame)
    assert isinstance(arrived, Sealed)
    assert b.open(arrived, b"b asks a") == "a"
    assert a.open(arrived, b"b asks a") == "a"
    assert decode(arrived.payload) == decode(told)


def test_a_seal_holds_for_its_payload_and_context_alone(pair: tuple[Identity, Identity]) -> None:
    a, b = pair
    sealed = a.seal(b"payload", b"context")
    other = b.seal(b"payload", b"context")
    assert reason_of(b, sealed, b"contex") == "forged"
    assert reason_of(b, sealed, b"") == "forged"
    changed = Sealed(b"Payload", sealed.certificate, sealed.signature)
    assert reason_of(b, changed, b"context") == "forged"
    shifted = Sealed(b"tpayload", sealed.certificate, sealed.signature)
    assert reason_of(b, shifted, b"contex") == "forged"
    in_our_name = Sealed(b"payload", sealed.certificate, other.signature)
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
    assert reason_of(b, Sealed(b"payload", authority_itself, b"x")) == "stranger"


@pytest.mark.parametrize("start", [-40, 3])
def test_a_seal_of_a_certificate_that_has_ended_or_not_begun_is_a_strangers(
    authority: Authority, pair: tuple[Identity, Identity], start: int
) -> None:
    a, b = pair
    day = datetime.now(UTC) + timedelta(days=start)
    certificate, _ = forge(authority, "a", start=day, days=30)
    sealed = Sealed(b"payload", certificate.public_bytes(Encoding.DER), b"x")
    for _ in range(2):  # what is remembered is judged by the clock, too
        assert reason_of(b, sealed) == "stranger"
    assert b.open(a.seal(b"payload", b""), b"") == "a"


def test_a_device_cannot_vouch_for_another(
    authority: Authority, pair: tuple[Identity, Identity]
) -> None:
    a, b = pair
    key = new_key()
    child = certify_device(
        "b", key.public_key(), read_certificate(a.certificate_path), read_key(a.key_path)
    )
    sealed = Sealed(b"payload", child.public_bytes(Encoding.DER), b"x")
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
            assert reason_of(b, Sealed(b"payload", certificate, whole.signature)) == "stranger"
        signature = spoiled(whole.signature)
        if signature != whole.signature:
            assert reason_of(b, Sealed(b"payload", whole.certificate, signature)) == "forged"


def test_strangers_take_no_room_among_the_remembered(pair: tuple[Identity, Identity]) -> None:
    a, b = pair
    sealed = a.seal(b"payload", b"")
    b.open(sealed, b"")
    before = verify.cache_info()
    reason_of(b, Sealed(b"payload", b"nonsense", b"x"))
    b.open(sealed, b"")
    after = verify.cache_info()
    assert (after.currsize, after.hits) == (before.currsize, before.hits + 1)
    assert after.maxsize is not None


PATIENCE_MS = 10_000


def settings(identity: Identity | None, ca: Path, mode: str) -> dict[str, Any]:
    tls: dict[str, Any] = {"root_ca_certificate": str(ca), "enable_mtls": True}
    if identity is not None:
        for side in ("listen", "connect"):
            tls[f"{side}_private_key"] = str(identity.key_path)
            tls[f"{side}_certificate"] = str(identity.certificate_path)
    link = {"tls": tls | {"verify_name_on_connect": True}}
    return {
        "mode": mode,
        "scouting": {"multicast": {"enabled": False}},
        "transport": {"shared_memory": {"enabled": False}, "link": link},
    }


def client(
    identity: Identity | None, ca: Path, endpoint: str, patience_ms: int = PATIENCE_MS
) -> zenoh.Session:
    connect = {"endpoints": [endpoint], "timeout_ms": patience_ms, "exit_on_failure": True}
    config = settings(identity, ca, "client") | {"connect": connect}
    return zenoh.open(zenoh.Config.from_json5(json.dumps(config)))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def router(authority: Authority) -> Iterator[dict[str, str]]:
    """Give the endpoints of a running router, by host."""
    identity = Identity.load(authority.issue("router", hosts=["127.0.0.2"]))
    hosts = ("127.0.0.1", "127.0.0.2", "127.0.0.3", "localhost")
    endpoints = {host: f"tls/{host}:{free_port()}" for host in hosts}
    listen = {"endpoints": list(endpoints.values())}
    config = settings(identity, identity.ca_path, "router") | {"listen": listen}
    with zenoh.open(zenoh.Config.from_json5(json.dumps(config))):
        yield endpoints


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.2"])
def test_a_device_is_let_in_by_its_router(
    pair: tuple[Identity, Identity], router: dict[str, str], host: str
) -> None:
    a, b = pair
    with (
        client(a, a.ca_path, router[host]) as teller,
        client(b, b.ca_path, router[host]) as asker,
    ):
        _ = teller.declare_queryable("lab/a", lambda query: query.reply("lab/a", b"here"))
        answers: list[bytes] = []
        end = time.monotonic() + PATIENCE_MS / 1000
        while not answers and time.monotonic() < end:  # b is yet to hear that there is an a
            answers = [reply.ok.payload.to_bytes() for reply in asker.get("lab/a") if reply.ok]
        assert answers == [b"here"]


def test_strangers_are_turned_away(
    pair: tuple[Identity, Identity], router: dict[str, str], tmp_path: Path
) -> None:
    stranger = Identity.load(Authority.create(tmp_path / "foreign", "lab").issue("a"))
    member, ours = pair[0], pair[0].ca_path
    door = router["127.0.0.1"]
    with client(member, ours, door):
        pass
    for who, ca, endpoint in (
        (stranger, ours, door),
        (stranger, stranger.ca_path, door),  # nor does it know the router
        (None, ours, door),
        (member, ours, router["127.0.0.3"]),  # an address that the router was not issued
    ):
        with pytest.raises(zenoh.ZError, match="Unable to connect"):
            client(who, ca, endpoint, patience_ms=500)
