"""Try mutants of the packages that decide and that keep, and tell how many no test notices.

``make mutants`` runs this.  For every part of `PARTS` a fixed sample of mutants is drawn.  Each is
imported in place of its module by a process in which only those tests run that call the mutated
function, quickest first, until one fails.  A mutant that no test notices survives.

Why not mutmut: it leaves out every decorated function, and here those are the rules
(``@compiled``); and its trampolines cannot be compiled into a kernel.  Here kernels run as plain
Python, so nothing is compiled for a mutant, and tests that need compiled speed are left out.
Mutants that change nothing anybody could see stand in ``equivalent.toml``, each with the reason.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import signal
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from mutations import Mutant, mutants_of
from trial import ROOT, SOURCE, Test, fork, import_mutants, observed, pytest_here

PARTS: dict[str, tuple[str, ...]] = {
    "rules": ("rules",),
    "bounds": ("bounds",),
    "model": ("model",),
    "agent": ("agent", "memory", "estimator", "reply_view"),
    "store": ("live/store",),
    "station": ("live/station", "live/node_core"),
}
"""Modules and packages of each part; what does not exist is passed over."""

LONGEST = 120
"""Seconds after which a mutant that is still running counts as noticed: most likely it loops."""
SEED = 16


def files_of(part: str) -> list[Path]:
    """Return the modules of a part, in order."""
    found: list[Path] = []
    for name in PARTS[part]:
        found += sorted((SOURCE / name).rglob("*.py"))
        found += [path for path in [SOURCE / f"{name}.py"] if path.is_file()]
    if not found:
        sys.exit(f"nothing of {part} is there: adapt PARTS in {__file__}")
    return found


def tests_of(part: str) -> list[str]:
    """Return the files of tests that import from a part, and the part itself for its doctests."""
    modules = {".".join(["colme", *Path(name).parts]) for name in PARTS[part]}
    names = {module.rpartition(".")[2] for module in modules}
    names |= {name.title() for name in names}
    found = [
        path
        for path in sorted((ROOT / "tests").glob("test_*.py"))
        if any(_imports(node, modules, names) for node in _statements(path))
    ]
    return [str(path) for path in [*found, *files_of(part)]]


def _statements(path: Path) -> Iterator[ast.AST]:
    """Yield what a test consists of, and what the helpers consist of that it imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        yield node
        if isinstance(node, ast.ImportFrom) and node.module:
            helper = path.with_name(f"{node.module}.py")
            if helper.is_file():
                yield from _statements(helper)


def _imports(node: ast.AST, modules: set[str], names: set[str]) -> bool:
    """Whether a statement imports a module, something of it, or the part by its name."""
    if isinstance(node, ast.Import):
        told = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.module:
        told = [node.module]
        if node.module in ("colme", "colme.live") and names & {one.name for one in node.names}:
            return True
        told += [f"{node.module}.{alias.name}" for alias in node.names]
    else:
        return False
    return any(one == module or one.startswith(f"{module}.") for one in told for module in modules)


def chosen(mutant: Mutant, tests: list[Test]) -> list[Test]:
    """Return the tests that call the mutated function, quickest first; all for a constant."""
    here = str(mutant.path)
    owner = mutant.function
    if not owner or owner.rpartition(".")[2][:1].isupper():  # in the body of a module or a class
        found = [test for test in tests if any(file == here for file, _ in test.functions)]
        found = found or tests
    else:
        found = [test for test in tests if (here, owner) in test.functions]
    return sorted(found, key=lambda test: test.seconds)


def start(mutant: Mutant, tests: list[Test], folder: Path, number: int) -> int:
    """Start a process that tries a mutant; its exit code is 0 if no test fails."""
    source = folder / f"{number}.py"
    source.write_text(mutant.source())

    def work() -> int:
        os.environ["COLME_MUTANT"] = f"{mutant.path}:{source}"
        os.environ["COLME_TRIED"] = str(number)
        import_mutants()
        return pytest_here(["-x", *(test.name for test in tests)])

    return fork(work)


def tried(mutants: list[Mutant], tests: list[Test], jobs: int) -> Iterator[tuple[Mutant, str]]:
    """Try every mutant; yield it with ``killed``, ``survived`` or ``untested``."""
    waiting = list(enumerate(mutants))
    running: dict[int, tuple[Mutant, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        while waiting or running:
            while waiting and len(running) < jobs:
                number, mutant = waiting.pop(0)
                some = chosen(mutant, tests)
                if not some:
                    yield mutant, "untested"
                    continue
                limit = time.monotonic() + min(20 + 5 * sum(test.seconds for test in some), LONGEST)
                running[start(mutant, some, Path(folder), number)] = mutant, limit
            for child, (mutant, limit) in list(running.items()):
                done, status = os.waitpid(child, os.WNOHANG)
                late = time.monotonic() > limit
                if late:
                    with suppress(ProcessLookupError):
                        os.killpg(child, signal.SIGKILL)
                    os.waitpid(child, 0)
                if done or late:
                    del running[child]
                    with suppress(ProcessLookupError):
                        os.killpg(child, signal.SIGKILL)  # what its tests may have left behind
                    yield mutant, "survived" if done and status == 0 else "killed"
            time.sleep(0.02)


def known_equivalents() -> dict[str, str]:
    """Return the keys of mutants that change nothing anybody could see, with the reasons."""
    told = tomllib.loads((Path(__file__).parent / "equivalent.toml").read_text())
    return {key: reason for part in told.values() for key, reason in part.items()}


def run_part(part: str, asked: argparse.Namespace) -> dict[str, Any]:
    """Try the sample of one part; return the counts and the survivors."""
    equivalent = known_equivalents()
    every = [one for path in files_of(part) for one in mutants_of(path)]
    every = [one for one in every if one.key not in equivalent and asked.only in one.key]
    sample = every
    if 0 < asked.sample < len(every):
        sample = random.Random(SEED).sample(every, asked.sample)
    tests = observed(tests_of(part), asked.jobs)
    if not tests:
        sys.exit(
            f"{part}: no test passes without numba; run them: pytest {' '.join(tests_of(part))}"
        )
    print(f"  {part}: {len(tests)} tests, {len(every)} mutants", file=sys.stderr, flush=True)
    left: list[dict[str, Any]] = []
    begin = time.monotonic()
    for n, (mutant, how) in enumerate(tried(sample, tests, asked.jobs), 1):
        if how != "killed":
            where = f"{mutant.path.relative_to(ROOT)}:{mutant.line}"
            left.append({"where": where, "key": mutant.key, "how": how})
            print(f"  {how} {where} {mutant.key}", file=sys.stderr, flush=True)
        if n % 20 == 0:
            print(f"  {part}: {n} of {len(sample)}", file=sys.stderr, flush=True)
    return {
        "part": part,
        "mutants": len(every),
        "tried": len(sample),
        "survived": len(left),
        "share": len(left) / max(len(sample), 1),
        "tests": len(tests),
        "seconds": round(time.monotonic() - begin, 1),
        "survivors": left,
    }


def main() -> int:
    """Try mutants, print, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("part", nargs="*", help=f"which of {', '.join(PARTS)}; by default all")
    parser.add_argument("--sample", type=int, default=60, help="mutants of each part; 0: all (60)")
    parser.add_argument("--only", default="", help="only mutants whose name contains this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    parser.add_argument("--most", type=float, help="exit with 1 if a larger share survives")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    asked = parser.parse_args()
    parts = asked.part or list(PARTS)
    if unknown := set(parts) - PARTS.keys():
        parser.error(f"unknown part {min(unknown)!r}; choose from {', '.join(PARTS)}")
    import hypothesis  # noqa: F401, PLC0415 - every child would import these again
    import numpy  # noqa: F401, PLC0415
    import pytest  # noqa: F401, PLC0415
    import scipy.stats  # noqa: F401, PLC0415

    found = [run_part(part, asked) for part in parts]
    n_tried = sum(one["tried"] for one in found)
    share = sum(one["survived"] for one in found) / max(n_tried, 1)
    if asked.json:
        print(json.dumps({"parts": found, "tried": n_tried, "share": share}))
    else:
        print("part      mutants  tried  survived  share")
        for one in found:
            print(
                f"{one['part']:8s} {one['mutants']:8d} {one['tried']:6d} {one['survived']:9d} "
                f"{one['share']:6.1%}"
            )
        print(f"all               {n_tried:6d} {share:17.1%}")
    return int(asked.most is not None and share > asked.most)


if __name__ == "__main__":
    sys.exit(main())
