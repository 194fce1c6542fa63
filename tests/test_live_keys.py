"""An authority issues keys to devices, and a device refuses keys that are not right."""

from __future__ import annotations

import shutil
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID
from issued_keys import forge

from colme.live.keys import Authority, Identity
from colme.live.keys.certificates import host_names
from colme.live.keys.files import read_certificate, write_certificate, write_key


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority.create(tmp_path / "keys", "lab")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


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
    assert (identity.folder / "ca.pem").read_bytes() == (authority.folder / "ca.pem").read_bytes()
    certificate = read_certificate(identity.folder / "device.pem")
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
        (["a", "b", "a"], {}, "each device needs its own name"),
        (["a", "members"], {}, "a file of the authority is called 'members'"),
        (["a", "ca.key"], {"renew": True}, "a file of the authority is called 'ca.key'"),
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
