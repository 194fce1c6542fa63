"""docs/6-architecture.md and its picture know every package."""

from __future__ import annotations

from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
SOURCE = Path(__file__).parents[1] / "src" / "colme"
NAMES = sorted(path.stem for path in SOURCE.iterdir() if path.name[:2] != "__")


def test_the_page_has_a_word_on_every_package() -> None:
    page = (DOCS / "6-architecture.md").read_text()
    assert not [name for name in NAMES if f"`{name}`" not in page]


def test_the_picture_shows_every_package_and_no_other() -> None:
    picture = (DOCS / "figures" / "architecture.svg").read_text()
    shown = {line.partition(">")[2].partition("<")[0] for line in picture.splitlines()}
    helpers = {name for line in shown if "everywhere" in line for name in line.split(": ")[1:]}
    named = shown | {name for line in helpers for name in line.split(", ")}
    assert not [name for name in NAMES if name not in named], "run: make picture"
