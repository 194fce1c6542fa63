"""The key of a compiled kernel: all that its machine code depends on, and nothing else."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from colme._compile import cache_directory, kernel_key

SOURCE = """
from enum import IntEnum
from typing import NamedTuple
class Kind(IntEnum):
    FIRST = 1
class Inner(NamedTuple):
    low: float = 0.0
class Entry(NamedTuple):
    mean: float = 0.0
    inner: Inner = Inner()
LEVEL = 2.0
UNUSED = 1
def rule(x):
    "Say what it does."
    return LEVEL * x
def kernel(entry: Entry, x):
    "Say what it does."
    return rule(x) + Kind.FIRST
"""


def key_of(source: str) -> str:
    module = ModuleType("somewhere")
    sys.modules["somewhere"] = module
    scope: dict[str, Any] = vars(module)
    exec("from __future__ import annotations\n" + source, scope)
    function: Callable[..., Any] = scope["kernel"]
    return kernel_key(function)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LEVEL = 2.0", "LEVEL = 3.0"),
        ("return LEVEL * x", "return LEVEL + x"),
        ("FIRST = 1", "FIRST = 2"),
        ("mean: float = 0.0", "mean: float = 1.0"),
        ("    mean: float = 0.0", "    mean: float = 0.0\n    count: float = 0.0"),
        ("low: float = 0.0", "low: float = 1.0"),
        ("+ Kind.FIRST", "- Kind.FIRST"),
    ],
)
def test_a_change_of_anything_that_is_reached_changes_the_key(old: str, new: str) -> None:
    assert old in SOURCE
    assert key_of(SOURCE.replace(old, new)) != key_of(SOURCE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("UNUSED = 1", "UNUSED = 2"),
        ("Say what it does.", "Say it better."),
        ("    return LEVEL", "    # a comment\n    return LEVEL"),
        ("LEVEL = 2.0", "\n\nLEVEL = 2.0"),
    ],
)
def test_nothing_else_changes_it(old: str, new: str) -> None:
    assert old in SOURCE
    assert key_of(SOURCE.replace(old, new)) == key_of(SOURCE)


def test_every_process_finds_the_same_key() -> None:
    program = (
        "from colme._compile import kernel_key\n"
        "from colme.engine import collaborate\n"
        "print(kernel_key(collaborate))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            check=True,
            capture_output=True,
            text=True,
            env=os.environ | {"PYTHONHASHSEED": str(seed)},
        ).stdout
        for seed in range(4)
    }
    assert len(found) == 1


PROGRAM = """
import numpy as np
from colme._compile import compiled, kernel
import somewhere
if {replaced}:
    @compiled
    def rule(x):
        return -x
    somewhere.rule = rule
print(somewhere.loop(np.ones(3)))
"""
MODULE = """
from colme._compile import compiled, kernel
@compiled
def rule(x):
    return x
@kernel
def loop(values):
    s = 0.0
    for value in values:
        s += rule(value)
    return s
"""


def test_a_rule_replaced_at_run_time_is_used_and_does_not_reach_other_programs(
    tmp_path: Path,
) -> None:
    (tmp_path / "somewhere.py").write_text(MODULE)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": _path(tmp_path)}

    def run(replaced: bool) -> str:
        command = [sys.executable, "-c", PROGRAM.format(replaced=replaced)]
        return subprocess.run(
            command, check=True, capture_output=True, text=True, env=environment
        ).stdout.strip()

    # Cold and replaced, cold, warm and replaced, warm.
    assert [run(True), run(False), run(True), run(False)] == ["-3.0", "3.0", "-3.0", "3.0"]
    assert len(list(tmp_path.glob("*/*.nbi"))) == 2


def _path(folder: Path) -> str:
    return os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)


def test_no_cache_is_kept_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert cache_directory(str(tmp_path / "file")) is None
    assert cache_directory(str(tmp_path)) == tmp_path / "colme-kernels"
