"""The examples: what they run is what the command line accepts."""

from __future__ import annotations

import configparser
import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest

from colme._settings import read_toml
from colme.cli.app import application
from colme.live.settings import NodeSettings

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
NODE = EXAMPLES / "node.toml"
CONTAINERFILE = (EXAMPLES / "container" / "Containerfile").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def unit() -> configparser.ConfigParser:
    found = configparser.ConfigParser(interpolation=None)
    found.optionxform = str  # type: ignore[assignment, method-assign]
    found.read(EXAMPLES / "systemd" / "colme-node.service")
    return found


def steps(word: str) -> list[str]:
    """Return what follows a word of the Containerfile, each time it begins a line."""
    whole = CONTAINERFILE.replace("\\\n", " ")
    return re.findall(rf"^{word} (.+)$", whole, re.MULTILINE)


def settings_of(arguments: list[str]) -> NodeSettings:
    """Return what `colme node` makes of its arguments, the file in them being the example."""
    found = application(arguments).parse_args(arguments, exit_on_error=False, print_error=False)
    assert found[0].__name__ == "node"
    given: dict[str, Any] = found[1].arguments
    assert given["config"] == Path("/etc/colme/node.toml")
    content = read_toml(NODE)
    for flags in given.values():
        content |= flags if isinstance(flags, dict) else {}
    return NodeSettings.make(content)


def from_unit() -> list[str]:
    program, *arguments = shlex.split(unit()["Service"]["ExecStart"])
    assert Path(program).name == "colme"
    return arguments


def from_image() -> list[str]:
    (entry,), (command,) = steps("ENTRYPOINT"), steps("CMD")
    assert json.loads(entry) == ["colme"]
    arguments: list[str] = json.loads(command)
    return arguments


@pytest.mark.parametrize("arguments", [from_unit(), from_image()], ids=["systemd", "container"])
def test_the_command_line_accepts_what_examples_run(arguments: list[str]) -> None:
    settings = settings_of(arguments)
    assert (settings.fleet, settings.id, settings.mode) == ("home", "kitchen", "client")
    assert settings.keys == Path("/etc/colme/keys")


def test_the_service_keeps_its_state_where_it_may_write() -> None:
    service = unit()["Service"]
    assert unit().sections() == ["Unit", "Service", "Install"]
    assert settings_of(from_unit()).state == Path("/var/lib", service["StateDirectory"])
    assert service["ProtectSystem"] == "strict"  # so it may write nowhere else
    assert service["Restart"] == "on-failure"


def test_the_container_keeps_its_state_in_its_volume() -> None:
    assert [str(settings_of(from_image()).state)] == steps("VOLUME")
    assert steps("STOPSIGNAL") == ["SIGTERM"]


@pytest.mark.parametrize("file", sorted(path for path in EXAMPLES.rglob("*") if path.is_file()))
def test_only_extras_that_exist_are_installed(file: Path) -> None:
    named = re.findall(r"(?:pip install .*?)\[([\w,]+)\]", file.read_text())
    extras = {extra for found in named for extra in found.split(",")}
    assert extras <= PROJECT["optional-dependencies"].keys()
    assert extras or file == NODE


def test_the_image_is_built_from_files_that_exist_with_a_python_that_will_do() -> None:
    copied = [name for step in steps("COPY") for name in step.split()[:-1]]
    missing = [name for name in copied if name[0] not in "-/" and not (ROOT / name).exists()]
    assert missing == []
    least = tuple(map(int, PROJECT["requires-python"].removeprefix(">=").split(".")))
    for image in steps("FROM"):
        found = re.search(r"python:(\d+)\.(\d+)", image)
        assert found is not None
        assert (int(found[1]), int(found[2])) >= least
