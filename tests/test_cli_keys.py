"""`colme keys` makes everything for a fleet in two commands, and no mistake shows a traceback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_cli import run

import colme._terminal
from colme.live.keys import Identity


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(colme._terminal.out, "_width", 100)


def test_two_commands_make_everything_for_a_fleet(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "keys", "init", "lab-keys", "--fleet", "lab")
    assert (code, err) == (0, "")
    assert "The authority of fleet lab is in lab-keys, valid for 3649 days." in out
    assert "Next: colme keys issue lab-keys NAME [NAME ...]" in out
    names = ["router", "kitchen", "garden"]
    code, out, err = run(capsys, "keys", "issue", "lab-keys", *names)
    assert (code, err) == (0, "")
    assert [line.split() for line in out.splitlines() if "lab-keys/" in line] == [
        [name, f"lab-keys/{name}"] for name in names
    ]
    assert "Valid for 825 days." in out
    assert "let other machines connect to them with --host" in out
    assert "Copy the file members" not in out
    for name in names:
        identity = Identity.load(Path("lab-keys") / name)
        assert (identity.name, identity.fleet) == (name, "lab")
        assert identity.members == tuple(names)


def test_what_was_made_is_printed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "keys", "init", "lab-keys", "--fleet", "lab", "--json")
    assert code == 0
    assert json.loads(out) == {"fleet": "lab", "folder": "lab-keys", "days": 3649}
    flags = ["--host", "router.local", "192.168.1.20", "--days", "30", "--json"]
    code, out, _ = run(capsys, "keys", "issue", "lab-keys", "a", "b", *flags)
    assert code == 0
    assert json.loads(out) == {
        "fleet": "lab",
        "days": 30,
        "hosts": ["router.local", "192.168.1.20"],
        "issued": {"a": "lab-keys/a", "b": "lab-keys/b"},
        "members": 2,
    }


def test_a_later_device_reminds_of_the_router(capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "keys", "init", "my [red] keys", "--fleet", "lab")
    run(capsys, "keys", "issue", "my [red] keys", "router", "--host", "router.local")
    code, out, _ = run(capsys, "keys", "issue", "my [red] keys", "a", "--host", "10.0.0.7")
    assert code == 0
    assert "my [red] keys/a" in out
    assert "Other machines can connect to them as 10.0.0.7." in out
    assert "Copy the file members again to the router" in out


def test_renewing_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "keys", "init", "lab-keys", "--fleet", "lab")
    run(capsys, "keys", "issue", "lab-keys", "a")
    before = Path("lab-keys/a/device.pem").read_bytes()
    code, out, err = run(capsys, "keys", "issue", "lab-keys", "a")
    assert (code, out) == (2, "")
    assert "'a' has been issued already: choose another name, or renew it (--renew)" in err
    assert Path("lab-keys/a/device.pem").read_bytes() == before
    assert run(capsys, "keys", "issue", "lab-keys", "a", "--renew")[0] == 0
    assert Path("lab-keys/a/device.pem").read_bytes() != before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["init"], "requires"),
        (["init", "new"], "--fleet"),
        (["init", "new", "--fleet", "a b"], "fleet must be 1 to 64 of the characters"),
        (["init", "lab-keys", "--fleet", "lab"], "holds an authority already"),
        (["init", "file", "--fleet", "lab"], "file"),
        (["issue", "lab-keys"], "name at least one device"),
        (["issue", "nowhere", "a"], "no authority in nowhere: nowhere/ca.pem is missing"),
        (["issue", "file", "a"], "no authority in file: file/ca.pem is missing"),
        (["issue", "lab-keys", "a/b"], "name must be 1 to 64 of the characters"),
        (["issue", "lab-keys", "a", "--days", "0"], "days must be at least 1"),
        (["issue", "lab-keys", "a", "--days", "soon"], "--days"),
        (["issue", "lab-keys", "a", "--host", "x:1"], "a host must be a name such as"),
    ],
    ids=str,
)
def test_a_mistake_is_one_line_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    run(capsys, "keys", "init", "lab-keys", "--fleet", "lab")
    Path("file").touch()
    code, out, err = run(capsys, "keys", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("colme: ")
    assert message in err
    assert err.count("\n") == 1
    assert not Path("lab-keys/a").exists()
