"""Count the functions of colme that run on three walks: `simulate`, `estimate` and `node`.

``python benchmarks/walks.py`` runs each command in a process of its own under `sys.setprofile` (and
`threading.setprofile`), and counts distinct code objects of ``src/colme`` that are entered, and
their files.  The package is taken from ``PYTHONPATH``, or from ``--checkout``.

Rules of counting:

- Functions, methods, properties, lambdas and nested functions count, each once.  Bodies of modules
  and of classes do not.
- Comprehensions and generator expressions are part of the function they stand in, as Python 3.12
  runs most of them.  How many had frames of their own is printed too.
- What runs while a module is being imported does not count, nor do functions generated at import
  time, such as the ``__init__`` of a dataclass: they have no file.
- A compiled kernel leaves no frame, so it does not count: its caller does.  Every command runs once
  beforehand, so that compiling is not part of the walk.
- The walk of `node` ends at its first snapshot on standard output.

``--list`` prints the functions by file, in the order of their first call, with their depth.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

LIMITS = {"simulate": (90, 28), "estimate": (110, None), "node": (220, None)}
"""Most functions, and most files, that each walk may take."""

BUILT = {"Problem": "simulate", "Agent": "node"}
"""What each walk must build just once."""

_COMMANDS = (
    "simulate --class-means 0.2 0.8 --agents 20 --sigma 0.5 --horizon 200 --runs 2",
    "estimate table.csv",
    "node --fleet home --id hall --state state --sigma 0.5 --interval 0.05",
)
WALKS = {command.split()[0]: command.split() for command in _COMMANDS}

_OPTIMIZED = 1
"""The flag of code objects that are functions: not those of modules and of class bodies."""


class Walk:
    """The functions entered so far, in order, each with the depth of its first call."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.depths: dict[CodeType, int] = {}
        self.calls: Counter[str] = Counter()
        self._of_thread = threading.local()

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Note a call or a return: what `sys.setprofile` asks for."""
        if event not in ("call", "return"):
            return
        code, step = frame.f_code, 1 if event == "call" else -1
        here = self._of_thread
        if code.co_name == "_find_and_load" and "importlib" in code.co_filename:
            here.importing = getattr(here, "importing", 0) + step
        if getattr(here, "importing", 0) > 0 or not code.co_filename.startswith(self.root):
            return
        if not code.co_flags & _OPTIMIZED:
            return
        here.depth = max(getattr(here, "depth", 0) + step, 0)
        if event == "call":
            self.depths.setdefault(code, here.depth)
            self.calls[code.co_qualname] += 1

    def report(self) -> dict[str, Any]:
        """Return counts, and every function with its file, line and depth."""
        found = [
            {
                "file": str(Path(code.co_filename).relative_to(self.root)),
                "line": code.co_firstlineno,
                "function": code.co_qualname,
                "depth": depth,
                "calls": self.calls[code.co_qualname],
            }
            for code, depth in self.depths.items()
        ]
        functions = [one for one in found if not _is_expression(str(one["function"]))]
        built = {
            name: self.calls[f"{name}.__init__"] or self.calls[f"{name}.__post_init__"]
            for name in BUILT
        }
        return {
            "functions": len(functions),
            "expressions": len(found) - len(functions),
            "files": len({one["file"] for one in found}),
            "depth": max(self.depths.values(), default=0),
            "built": built,
            "walk": found,
        }


def _is_expression(function: str) -> bool:
    """Whether a code object is a comprehension or a generator expression."""
    return function.rpartition(".")[2] in ("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>")


def walk_here(name: str, *, traced: bool) -> None:
    """Run a command in this process under the profile; write what was found, and end."""
    import colme.cli  # noqa: PLC0415 - from PYTHONPATH, before the profile is set

    walk = Walk(str(Path(colme.__file__).parent) + os.sep)
    out, done = os.dup(1), threading.Lock()
    printed, screen = os.pipe()
    os.dup2(screen, 1)

    def end() -> None:
        done.acquire()  # and never released: the walk ends once
        sys.setprofile(None)
        report = json.dumps(walk.report()).encode()
        while report:
            report = report[os.write(out, report) :]
        os._exit(0)

    def watch() -> None:
        with os.fdopen(printed) as lines:
            for line in lines:
                if name == "node" and line.startswith("{"):
                    end()

    threading.Thread(target=watch, daemon=True).start()
    if traced:  # compiling under a profile would take minutes
        threading.setprofile(walk)
        sys.setprofile(walk)
    try:
        colme.cli.main(WALKS[name])
    except SystemExit as stop:
        if stop.code not in (0, None):
            sys.setprofile(None)
            raise
    end()


def walk_of(name: str, source: Path | None) -> dict[str, Any]:
    """Run a command in a process of its own, twice; return what the second found."""
    environment = dict(os.environ)
    if source is not None:
        environment["PYTHONPATH"] = str(source)
    for traced in ("", "traced"):  # the first compiles
        with tempfile.TemporaryDirectory() as folder:
            rows = [f"{a},{a % 3 + (7 * a + 3 * n) % 11 / 10}" for n in range(12) for a in range(9)]
            Path(folder, "table.csv").write_text("\n".join(["agent,value", *rows]))
            ran = subprocess.run(
                [sys.executable, __file__, "--child", name, traced],
                cwd=folder,
                env=environment,
                input="0.4\n0.6\n0.5\n",
                capture_output=True,
                text=True,
                check=False,
                timeout=300,
            )
        if ran.returncode:
            sys.exit(f"colme {' '.join(WALKS[name])} failed:\n{ran.stderr[-3000:]}")
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def shown(name: str, found: dict[str, Any], *, every: bool) -> None:
    """Print one walk."""
    most, files = LIMITS[name]
    limit = f"at most {most}" + (f" in {files}" if files else "")
    built = ", ".join(f"{what} built {n} times" for what, n in found["built"].items() if n)
    print(
        f"{name:9s} {found['functions']:4d} functions in {found['files']:3d} files, "
        f"depth {found['depth']:2d} ({limit}); {found['expressions']} comprehensions"
        f"{'; ' * bool(built)}{built}"
    )
    if every:
        for file in dict.fromkeys(one["file"] for one in found["walk"]):
            print(f"  {file}")
            for one in found["walk"]:
                if one["file"] == file:
                    print(f"    {one['depth']:3d} {one['calls']:6d}x {one['function']}")


def breaches(name: str, found: dict[str, Any]) -> list[str]:
    """Return which limits a walk breaks."""
    most, files = LIMITS[name]
    broken = []
    if found["functions"] > most:
        broken.append(f"{name}: {found['functions']} functions, at most {most}")
    if files and found["files"] > files:
        broken.append(f"{name}: {found['files']} files, at most {files}")
    broken += [
        f"{name}: {what} is built {found['built'][what]} times, not once"
        for what, where in BUILT.items()
        if where == name and found["built"][what] != 1
    ]
    return broken


def main() -> int:
    """Walk, print, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("walk", nargs="*", help=f"which of {', '.join(WALKS)}; by default all")
    parser.add_argument("--checkout", type=Path, help="take colme from this checkout's src")
    parser.add_argument("--list", action="store_true", help="print every function, by file")
    parser.add_argument("--check", action="store_true", help="exit with 1 beyond a limit")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        walk_here(asked.child[0], traced=bool(asked.child[1]))
    names = asked.walk or list(WALKS)
    if unknown := set(names) - WALKS.keys():
        parser.error(f"unknown walk {min(unknown)!r}; choose from {', '.join(WALKS)}")
    source = None if asked.checkout is None else asked.checkout.resolve() / "src"
    found = {name: walk_of(name, source) for name in names}
    broken = [line for name in names for line in breaches(name, found[name])]
    if asked.json:
        print(json.dumps({"walks": found, "breaches": broken}))
    else:
        for name in names:
            shown(name, found[name], every=asked.list)
        print("\n".join(broken) or "every walk is within its limits")
    return bool(asked.check and broken)


if __name__ == "__main__":
    sys.exit(main())
