"""Tests run in processes of their own: what each calls, and whether one notices a mutant.

Lives here: pytest without numba, in a fork.  Must not know parts or how mutants are made.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import tempfile
import threading
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

__all__ = ["ROOT", "SOURCE", "Test", "fork", "import_mutants", "observed", "pytest_here"]

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "colme"

SECONDS_OF_TEST = 0.5
"""Tests that take longer without compiled loops, by the clock of the processor, are left out."""


@dataclass(frozen=True)
class Test:
    """A test that passes without numba: how long it takes, and the functions it enters."""

    name: str
    seconds: float
    functions: frozenset[tuple[str, str]]


class Observer:
    """A plugin of pytest: how long each test takes, whether it passes, and what it calls."""

    def __init__(self) -> None:
        self.tests: dict[str, dict[str, Any]] = {}

    def pytest_runtest_protocol(self, item: Any) -> None:
        """Begin a test."""
        self.tests[item.nodeid] = {"passed": True, "seconds": 0.0}

    def pytest_runtest_setup(self) -> None:
        """Begin to look at calls, until the test has taken too long."""
        self._codes: set[Any] = set()
        add = self._codes.add

        def look(frame: Any, event: str, _: object) -> None:
            if event == "call":
                add(frame.f_code)

        threading.setprofile(look)
        sys.setprofile(look)
        signal.signal(signal.SIGPROF, _too_long)
        signal.setitimer(signal.ITIMER_PROF, SECONDS_OF_TEST)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note how a part of a test went."""
        test = self.tests[report.nodeid]
        test["seconds"] += report.duration
        test["passed"] = test["passed"] and report.passed
        if report.when == "teardown":
            sys.setprofile(None)
            threading.setprofile(None)
            signal.setitimer(signal.ITIMER_PROF, 0)
            test["functions"] = sorted(
                {
                    (code.co_filename, code.co_qualname.replace(".<locals>", ""))
                    for code in self._codes
                    if code.co_filename.startswith(str(SOURCE))
                }
            )


class TooLong(BaseException):
    """A test takes too long; no exception, which Hypothesis would look for smaller examples of."""


def _too_long(*_: object) -> None:
    raise TooLong


def pytest_here(arguments: list[str], plugin: object | None = None) -> int:
    """Run tests in this process, silently."""
    import pytest  # noqa: PLC0415

    os.chdir(ROOT)
    with Path(os.devnull).open("r+") as nowhere:
        for stream in (0, 1, 2):
            os.dup2(nowhere.fileno(), stream)
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header", "--tb=no"]
    # pytest would read what it rewrites by itself, and not the mutant.
    options += ["--assert=plain"]
    return int(pytest.main([*options, *arguments], plugins=[plugin] if plugin else []))


def fork(work: Any) -> int:
    """Run something in a child of its own group; return its process id."""
    child = os.fork()
    if child:
        return child
    code = 70
    try:
        os.setpgid(0, 0)
        code = work()
    finally:
        os._exit(code)


def observed(files: list[str], jobs: int) -> list[Test]:
    """Return the tests of some files that pass without numba, with what they call."""
    running = set[int]()
    told: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:

        def look(number: int) -> int:
            os.environ["COLME_MUTANT"] = ":"
            import_mutants()
            observer = Observer()
            pytest_here([files[number]], observer)
            Path(folder, str(number)).write_text(json.dumps(observer.tests))
            return 0

        for number in range(len(files)):
            running.add(fork(partial(look, number)))
            if len(running) == jobs:
                running.discard(os.wait()[0])
        while running:
            running.discard(os.wait()[0])
        for file in Path(folder).iterdir():
            told |= json.loads(file.read_text())
    return [
        Test(name, test["seconds"], frozenset(map(tuple, test["functions"])))
        for name, test in told.items()
        if test["passed"] and "functions" in test
    ]


def import_mutants() -> None:
    """Import mutants in this process and in those it starts."""
    site = str(Path(__file__).parent / "site")
    path = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join([site, str(ROOT / "src"), path])
    sys.path[:0] = [site, str(ROOT / "src"), str(ROOT / "tests")]
    sys.modules.pop("sitecustomize", None)
    importlib.import_module("sitecustomize")
