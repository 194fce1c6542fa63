"""Count what a reader of the sources has to take in, and check it against limits.

``python benchmarks/sizes.py [CHECKOUT]`` prints the lines of code of ``src``, class names that
exist twice, files and functions that are too long, module names in use more than once and modules
that end in -ing.  With ``--check`` it exits with 1 if a limit is broken.

A line of code holds at least one token that is not a comment, and is no part of the docstring of a
module, class or function; a text that documents a constant counts as code.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MOST_CODE = 21_500
MOST_LINES_OF_FILE = 300
MOST_LINES_OF_FUNCTION = 60

_SILENT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}
_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def docstring_lines(tree: ast.Module) -> set[int]:
    """Return the lines of docstrings: of modules, classes and functions."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, _Documented):
            for part in node.body[:1]:
                if (
                    isinstance(part, ast.Expr)
                    and isinstance(part.value, ast.Constant)
                    and isinstance(part.value.value, str)
                ):
                    lines.update(range(part.lineno, (part.end_lineno or part.lineno) + 1))
    return lines


def code_lines(text: str, tree: ast.Module) -> int:
    """Return how many lines hold code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - docstring_lines(tree))


def functions(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield every function and how many lines it has, its docstring and decorators included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            yield node.name, (node.end_lineno or node.lineno) - first + 1


def measured(source: Path) -> dict[str, Any]:
    """Return all counts of a source tree."""
    total, by_package = 0, Counter[str]()
    classes, modules = defaultdict(list), defaultdict(list)
    long_files, long_functions = {}, {}
    for path in sorted(source.rglob("*.py")):
        text, name = path.read_text(), str(path.relative_to(source))
        tree = ast.parse(text)
        n_code, n_lines = code_lines(text, tree), len(text.splitlines())
        total += n_code
        parts = path.relative_to(source).with_suffix("").parts
        by_package[".".join(parts[:2])] += n_code
        if not path.stem.startswith("__"):
            modules[path.stem].append(name)
        if n_lines > MOST_LINES_OF_FILE:
            long_files[name] = n_lines
        for function, length in functions(tree):
            if length > MOST_LINES_OF_FUNCTION:
                long_functions[f"{name}:{function}"] = length
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                classes[node.name].append(name)
    return {
        "code_lines": total,
        "by_package": dict(by_package.most_common()),
        "classes_twice": {name: where for name, where in classes.items() if len(where) > 1},
        "long_files": long_files,
        "long_functions": long_functions,
        "modules_twice": {name: where for name, where in modules.items() if len(where) > 1},
        "ing": sorted(
            where for name, all_ in modules.items() if name.endswith("ing") for where in all_
        ),
    }


def breaches(found: dict[str, Any]) -> list[str]:
    """Return which limits are broken."""
    broken = []
    if found["code_lines"] > MOST_CODE:
        broken.append(f"{found['code_lines']} lines of code, at most {MOST_CODE}")
    for what, words in (
        ("classes_twice", "class names exist twice"),
        ("long_files", f"files are longer than {MOST_LINES_OF_FILE} lines"),
        ("long_functions", f"functions are longer than {MOST_LINES_OF_FUNCTION} lines"),
    ):
        if found[what]:
            broken.append(f"{len(found[what])} {words}")
    return broken


def shown(found: dict[str, Any]) -> None:
    """Print all counts."""
    print(f"{found['code_lines']} lines of code")
    for package, lines in found["by_package"].items():
        print(f"  {lines:6d} {package}")
    for what, words in (
        ("classes_twice", "class names exist more than once"),
        ("modules_twice", "module names are in use more than once"),
        ("long_files", f"files have more than {MOST_LINES_OF_FILE} lines"),
        ("long_functions", f"functions have more than {MOST_LINES_OF_FUNCTION} lines"),
    ):
        print(f"{len(found[what])} {words}")
        for name, where in sorted(found[what].items()):
            print(f"  {name}: {', '.join(where) if isinstance(where, list) else where}")
    print(f"{len(found['ing'])} modules end in -ing: {', '.join(found['ing'])}")


def main() -> int:
    """Count, print, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    here = Path(__file__).resolve().parents[1]
    parser.add_argument("checkout", nargs="?", type=Path, default=here, help="by default this one")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a limit is broken")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    asked = parser.parse_args()
    source = asked.checkout / "src"
    if not source.is_dir():
        parser.error(f"{asked.checkout} has no folder src")
    found = measured(source)
    broken = breaches(found)
    if asked.json:
        print(json.dumps({**found, "breaches": broken}))
    else:
        shown(found)
        print("\n".join(broken) or "every limit is kept")
    return bool(asked.check and broken)


if __name__ == "__main__":
    sys.exit(main())
