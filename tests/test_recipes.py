"""The recipes of docs/6-architecture.md, tried in a copy of the sources: what they touch, and that
what they add works.

Each file in `recipes` is one recipe: edits, new files, a program that uses the addition, and what
it prints (``...`` stands for anything).  Kernels run as plain Python there, so nothing is compiled.
"""

from __future__ import annotations

import doctest
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "6-architecture.md"
RECIPES = sorted((ROOT / "tests" / "recipes").glob("*.toml"))
WANTED = {
    "query strategy",
    "weighting",
    "bound",
    "source of samples",
    "wire field",
    "metric",
    "noise law",
    "command",
}
"""What a newcomer is told how to add."""


def read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text())


def applied(recipe: dict[str, Any], source: Path) -> set[str]:
    """Apply a recipe to a copy of the package; return the files it touched."""
    for new in recipe.get("new", []):
        path = source / new["file"]
        assert not path.exists(), f"{new['file']} is there already: give the recipe another name"
        path.write_text(new["text"].lstrip("\n"))
    for edit in recipe["edit"]:
        path = source / edit["file"]
        text, place = path.read_text(), edit.get("after", edit.get("replace"))
        assert text.count(place) == 1, (
            f"{edit['file']} has {text.count(place)} times, not once: {place!r}; "
            "adapt this recipe and docs/6-architecture.md"
        )
        new = edit["insert"]
        if edit.get("before"):
            new += place
        elif "after" in edit:
            new = place + new
        path.write_text(text.replace(place, new))
    return {one["file"] for one in [*recipe.get("new", []), *recipe["edit"]]}


def section(heading: str) -> str:
    """Return what the page says under a heading."""
    _, found, rest = PAGE.read_text().partition(f"\n### {heading}\n")
    assert found, f"{PAGE.name} has no section {heading!r}"
    return rest.partition("\n### ")[0].partition("\n## ")[0]


@pytest.mark.parametrize("path", RECIPES, ids=[path.stem for path in RECIPES])
def test_a_recipe_touches_the_files_it_names_and_works(path: Path, tmp_path: Path) -> None:
    recipe = read(path)
    shutil.copytree(ROOT / "src", tmp_path, dirs_exist_ok=True)
    touched = applied(recipe, tmp_path / "colme")
    assert len(touched) <= recipe["most_files"]
    told = section(recipe["heading"])
    assert not {name for name in touched if f"`{name}`" not in told}
    program = "import sys\nsys.modules['numba'] = None\n" + recipe["run"]["program"]
    others = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *others])},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    wanted = recipe["run"]["prints"].lstrip("\n")
    checker = doctest.OutputChecker()
    assert checker.check_output(wanted, ran.stdout, doctest.ELLIPSIS), ran.stdout


def test_there_is_a_recipe_for_all_that_is_wanted() -> None:
    headings = {read(path)["heading"] for path in RECIPES}
    assert {heading.partition(" a ")[2] for heading in headings} == WANTED
