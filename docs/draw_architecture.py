"""Draw docs/figures/architecture.svg from the imports of the package: `make picture`.

Every box is a package or module of ``colme``; a line leads from it down to each that it imports,
unless a longer way leads there too.  So each box stands above all that it needs.  The same imports
give the same picture, to the last byte.
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path

import grimp

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

PICTURE = Path(__file__).parent / "figures" / "architecture.svg"
ROOT = "colme"
WIDTH, BOX, HEIGHT, GAP, ROW = 1080, 112, 32, 16, 72
"""Of the picture, of a box, between boxes of a row, and from one row to the next."""
SWEEPS = 24
"""How often rows are put in the order of their neighbours: enough for it to settle."""

Edges = dict[str, set[str]]


def imports() -> tuple[Edges, dict[str, int]]:
    """Return what each package imports of the others, and how many modules each has."""
    graph = grimp.build_graph(ROOT, include_external_packages=False)
    tops = sorted(
        child.partition(".")[2]
        for child in graph.find_children(ROOT)
        if not child.endswith("__main__")
    )
    edges: Edges = {name: set() for name in tops}
    for importer in sorted(graph.modules):
        owner = importer.split(".")[1] if "." in importer else ""
        for imported in graph.find_modules_directly_imported_by(importer):
            parts = imported.split(".")
            other = parts[1] if len(parts) > 1 else ""
            if owner in edges and other in edges and owner != other:
                edges[owner].add(other)
    sizes = {name: 1 + len(graph.find_descendants(f"{ROOT}.{name}")) for name in tops}
    return edges, sizes


def reach(edges: Edges, name: str) -> set[str]:
    """Return all that a package needs, directly or not."""
    found: set[str] = set()
    todo = list(edges[name])
    while todo:
        one = todo.pop()
        if one not in found:
            found.add(one)
            todo += edges[one]
    return found


def shortest_ways_removed(edges: Edges) -> Edges:
    """Leave out imports to which a longer way leads as well."""
    return {
        name: {one for one in needs if not any(one in reach(edges, other) for other in needs)}
        for name, needs in edges.items()
    }


def rows_of(edges: Edges) -> list[list[str]]:
    """Return packages by how long the longest way down from them is, the longest first."""
    height: dict[str, int] = {}

    def measure(name: str) -> int:
        if name not in height:
            height[name] = 1 + max((measure(one) for one in edges[name]), default=-1)
        return height[name]

    for name in sorted(edges):
        measure(name)
    return [
        sorted(name for name in edges if height[name] == level)
        for level in range(max(height.values()), -1, -1)
    ]


def with_bends(rows: list[list[str]], edges: Edges) -> Edges:
    """Give every line a bend in each row that it passes, so that it goes around the boxes there."""
    level = {name: place for place, row in enumerate(rows) for name in row}
    chains: Edges = {}
    for name in sorted(edges):
        for one in sorted(edges[name]):
            last = name
            for between in range(level[name] + 1, level[one]):
                bend = f"{name}>{one}>{between}"
                rows[between].append(bend)
                chains.setdefault(last, set()).add(bend)
                last = bend
            chains.setdefault(last, set()).add(one)
    return {name: chains.get(name, set()) for row in rows for name in row}


def width_of(name: str) -> int:
    """Return how much room a box or a bend takes."""
    return 4 if ">" in name else BOX


def placed(rows: list[list[str]], edges: Edges) -> dict[str, float]:
    """Return where the middle of each box is: near the boxes that it has lines to."""
    above: Edges = {name: set() for name in edges}
    for name, needs in edges.items():
        for one in needs:
            above[one].add(name)
    middle = {
        name: WIDTH * (place + 1) / (len(row) + 1) for row in rows for place, name in enumerate(row)
    }
    for sweep in range(SWEEPS):
        near, order = (above, rows) if sweep % 2 == 0 else (edges, rows[::-1])
        for row in order:
            wish = {
                name: sum(middle[one] for one in sorted(near[name])) / len(near[name])
                if near[name]
                else middle[name]
                for name in row
            }
            row.sort(key=lambda name: (round(wish[name], 6), name))
            middle |= spread(row, wish)
    return middle


def spread(row: list[str], wish: dict[str, float]) -> dict[str, float]:
    """Return places near the wishes at which boxes do not overlap and stay in the picture."""
    places: dict[str, float] = {}
    end = -1e9
    for name in row:
        places[name] = max(wish[name], end + width_of(name) / 2)
        end = places[name] + width_of(name) / 2 + GAP
    shift = sum(wish[name] - places[name] for name in row) / len(row)
    begin = GAP
    for name in row:  # nothing beyond the left edge ...
        places[name] = max(places[name] + shift, begin + width_of(name) / 2)
        begin = places[name] + width_of(name) / 2 + GAP
    end = WIDTH - GAP
    for name in reversed(row):  # ... nor beyond the right one
        places[name] = min(places[name], end - width_of(name) / 2)
        end = places[name] - width_of(name) / 2 - GAP
    return places


def line(points: list[tuple[float, float]]) -> str:
    """Return a smooth way through points, each above the next."""
    x, y = points[0]
    way = f"M{x:.0f} {y:.0f}"
    for x2, y2 in points[1:]:
        bend = (y2 - y) / 2
        way += f" C{x:.0f} {y + bend:.0f} {x2:.0f} {y2 - bend:.0f} {x2:.0f} {y2:.0f}"
        x, y = x2, y2
    return f'<path d="{way}" fill="none" stroke="#8a96a3" stroke-width="1.2"/>'


def drawn(edges: Edges, sizes: dict[str, int]) -> str:
    """Return the picture as SVG."""
    helpers = sorted(name for name in edges if name.startswith("_"))
    kept = {
        name: {one for one in needs if not one.startswith("_")}
        for name, needs in edges.items()
        if not name.startswith("_") or name == "_terminal"
    }
    helpers.remove("_terminal")
    for needs in kept.values():
        needs.discard("_terminal")
    kept["_terminal"] = {one for one in edges["_terminal"] if one in kept}
    if "cli" in kept:
        kept["cli"].add("_terminal")
    rows = rows_of(kept)
    ways = with_bends(rows, shortest_ways_removed(kept))
    middle = placed(rows, ways)
    top = {name: GAP + level * ROW for level, row in enumerate(rows) for name in row}
    bottom = GAP + len(rows) * ROW
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + HEIGHT + GAP}" '
        'font-family="sans-serif" font-size="13">',
        "<title>What each package of colme imports</title>",
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for name in sorted(kept):
        for step in sorted(ways[name]):
            points = [(middle[name], top[name] + HEIGHT)]
            while ">" in step:
                points += [(middle[step], top[step]), (middle[step], top[step] + HEIGHT)]
                (step,) = ways[step]  # noqa: PLW2901 - a bend leads to one place
            parts.append(line([*points, (middle[step], top[step])]))
    for name in sorted(kept):
        parts += box(name, middle[name], top[name], BOX, sizes[name])
    wide = WIDTH - 2 * GAP
    text = "used everywhere: " + ", ".join(helpers)
    parts += [
        f'<rect x="{GAP}" y="{bottom}" width="{wide}" height="{HEIGHT}" rx="4" fill="#f4f4f4" '
        'stroke="#bbbbbb"/>',
        f'<text x="{WIDTH / 2:.0f}" y="{bottom + 22}" text-anchor="middle">{escape(text)}</text>',
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def box(name: str, middle: float, top: int, width: int, n_modules: int) -> list[str]:
    """Return a box: darker if it is a package of several modules."""
    fill = "#d7e6f5" if n_modules > 1 else "#eef4fa"
    return [
        f'<rect x="{middle - width / 2:.0f}" y="{top}" width="{width}" height="{HEIGHT}" rx="4" '
        f'fill="{fill}" stroke="#4a6fa5"/>',
        f'<text x="{middle:.0f}" y="{top + 22}" text-anchor="middle">{escape(name)}</text>',
    ]


if __name__ == "__main__":
    picture = drawn(*imports())
    if "--check" in sys.argv[1:]:
        sys.exit(0 if PICTURE.read_text() == picture else f"{PICTURE} is old: run make picture")
    PICTURE.write_text(picture)
