"""Every command and every piece of Python shown in the documentation runs."""

from __future__ import annotations

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack, chdir
from pathlib import Path

import pytest

from colme.cli import main

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# ([\w-]+\.(?:py|toml))\b")
"""The first line of a block may say which file it is."""
ADDRESS = re.compile(r"\b(?:127\.0\.0\.1|0\.0\.0\.0|router\.local):(\d+)\b")
"""Every machine that a page speaks of is this one here, at ports that nobody uses."""
NAMED = re.compile(r"\b[\w-]+\.[a-z]+\b|%")
"""A file, a machine or a job that a command speaks of."""
SLOW = {"colme reproduce"}  # the reproduction has its own tests
APART = {"colme fleet", "colme sweep", "colme watch"}
"""Commands that leave threads or processes behind until their own process ends: always in one."""
STARTED: set[str] = set()
"""Commands that have run as processes, so that they import what they need.  From then on they are
called in this process, which has imported it already."""
PATIENCE = 60.0
"""Seconds in which a command that was told to end must have ended, however busy the machine is."""


def blocks(page: Path, language: str) -> list[str]:
    return [text for kind, text in BLOCK.findall(page.read_text()) if kind == language]


def commands(page: Path) -> list[str]:
    whole = (text.replace("\\\n", " ") for text in blocks(page, "sh"))
    lines = (" ".join(line.split("#")[0].split()) for text in whole for line in text.splitlines())
    return [line for line in lines if line]


def new_commands(page: Path) -> list[str]:
    """Return the commands of a page without those that are the same on a page before it."""
    before = {command for other in PAGES[: PAGES.index(page)] for command in commands(other)}
    return [one for one in commands(page) if NAMED.search(one) or one not in before]


def files(page: Path) -> dict[str, str]:
    """Return the files that a page shows."""
    found = {}
    for language in ("toml", "python"):
        for text in blocks(page, language):
            named = FILE.match(text)
            if named:
                found[named[1]] = text
            elif language == "toml":
                found["experiment.toml"] = text
    return found


class Here:
    """Puts free ports of this machine in the place of addresses, the same for the same."""

    def __init__(self) -> None:
        self._ports: dict[str, int] = {}

    def __call__(self, text: str) -> str:
        with ExitStack() as stack:
            for port in ADDRESS.findall(text):
                if port not in self._ports:
                    probe = stack.enter_context(socket.socket())
                    probe.bind(("127.0.0.1", 0))
                    self._ports[port] = probe.getsockname()[1]
        return ADDRESS.sub(lambda found: f"127.0.0.1:{self._ports[found[1]]}", text)


class Shell:
    """Runs commands one after the other, as a terminal does: `&` and `kill %1` included."""

    def __init__(self, folder: Path, page: str) -> None:
        self._folder, self._page = folder, page
        self._jobs: list[tuple[str, subprocess.Popen[str]]] = []
        bin_folder = Path(sys.executable).parent
        self._env = os.environ | {"PATH": f"{bin_folder}:{os.environ['PATH']}"}

    def __enter__(self) -> Shell:
        return self

    def __exit__(self, *_: object) -> None:
        for _command, job in self._jobs:
            job.kill()
            job.communicate()

    def run(self, command: str) -> None:
        """Run a command, or begin to if it ends in `&`."""
        if command.startswith("kill %"):
            for number in sorted(map(int, re.findall(r"%(\d+)", command)), reverse=True):
                self._end(*self._jobs.pop(number - 1))
            return
        name = " ".join(command.split()[:2])
        if name in STARTED and not re.search(r" [|>&]", command):
            self._call(command)
            return
        if name.startswith("colme ") and name not in APART:
            STARTED.add(name)
        pipe = subprocess.PIPE
        started = subprocess.Popen(
            self._arguments(command.removesuffix("&").strip()),
            cwd=self._folder,
            env=self._env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if command.endswith("&") else pipe,
            stderr=pipe,
            text=True,
        )
        if command.endswith("&"):
            self._jobs.append((command, started))
        else:
            self._judge(command, started)

    def end(self) -> None:
        """End what is still running, the latest first: it must end well."""
        while self._jobs:
            self._end(*self._jobs.pop())

    def _call(self, command: str) -> None:
        """Run a command of ours within this process."""
        _python, _m, _colme, *arguments = self._arguments(command)
        with chdir(self._folder), pytest.raises(SystemExit) as stop:
            main(arguments)
        assert stop.value.code == 0, command

    def _end(self, command: str, job: subprocess.Popen[str]) -> None:
        job.terminate()
        self._judge(command, job, PATIENCE)

    def _judge(
        self, command: str, started: subprocess.Popen[str], timeout: float | None = None
    ) -> None:
        _, told = started.communicate(timeout=timeout)
        # Who is told to end before it has begun to live ends as any program does.
        well = (0,) if timeout is None else (0, -signal.SIGTERM)
        assert started.returncode in well, (command, told)

    def _arguments(self, command: str) -> list[str]:
        program, *arguments = shlex.split(command)
        if re.search(r" [|>] ", command):
            return ["bash", "-o", "pipefail", "-c", command]
        if program == "make":
            return ["make", "--dry-run", "--directory", str(ROOT), *arguments]
        if program == "python":
            return [sys.executable, *arguments]
        if program == "colme":
            if " ".join(shlex.split(command)[:2]) in SLOW:
                arguments.append("--help")
            return [sys.executable, "-m", "colme", *arguments]
        return pytest.fail(f"{self._page} shows a command that nothing runs: {command}")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_on_the_page_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code = "\n".join(blocks(page, "python"))
    exec(compile(code, page.name, "exec"), {"__name__": "page"})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_on_the_page_run(page: Path, tmp_path: Path) -> None:
    here = Here()
    for name, text in files(page).items():
        (tmp_path / name).write_text(here(text))
    if any(command.startswith("colme estimate") for command in commands(page)):
        table = [sys.executable, "-c", blocks(page, "python")[0]]  # the first piece writes a table
        subprocess.run(table, cwd=tmp_path, check=True, env=os.environ)
    with Shell(tmp_path, page.name) as shell:
        for command in new_commands(page):
            shell.run(here(command))
        shell.end()


def anchors(page: Path) -> set[str]:
    """Return the names under which the headings of a page can be linked to."""
    headings = re.findall(r"^#+ (.+)$", BLOCK.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_on_the_page_lead_somewhere(page: Path) -> None:
    links = [link.partition("#") for link in re.findall(r"\]\(([^)]+)\)", page.read_text())]
    inside = [
        (page.parent / path if path else page, at) for path, _, at in links if "//" not in path
    ]
    missing = [path for path, at in inside if not path.exists() or (at and at not in anchors(path))]
    assert missing == []
