"""Small changes to a program, each of which some test should notice.

Lives here: what can be changed in a module, as positions in its syntax tree.  Must not know tests.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Mutant", "mutants_of"]

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_SILENT = (ast.Raise, ast.Assert, ast.JoinedStr, ast.Import, ast.ImportFrom)
"""Where changes would only be changes of wording, or of what is imported."""

Change = Callable[[ast.AST], ast.AST]
Place = list[tuple[str, int | None]]
"""The way to a node from the root: a field, and a number where the field is a list."""


@dataclass(frozen=True)
class Mutant:
    """One change: where it is, what it was and what it becomes.

    `nth` numbers the places of one function at which the same change could be made.
    """

    path: Path
    function: str
    line: int
    old: str
    new: str
    nth: int
    place: Place
    node: ast.AST

    @property
    def key(self) -> str:
        """A name that stays when lines move: file, function, and what changes how."""
        again = f" ({self.nth + 1})" if self.nth else ""
        return f"{self.path.name}:{self.function}: {self.old} -> {self.new}{again}"

    def source(self) -> str:
        """Return the whole module with this change made."""
        tree = ast.parse(self.path.read_text())
        owner = _at(tree, self.place[:-1])
        field, number = self.place[-1]
        if number is None:
            setattr(owner, field, self.node)
        else:
            getattr(owner, field)[number] = self.node
        return ast.unparse(ast.fix_missing_locations(tree))


def mutants_of(path: Path) -> list[Mutant]:
    """Return every mutant of a module, in the order of its lines.

    Examples
    --------
    >>> from tempfile import NamedTemporaryFile
    >>> with NamedTemporaryFile("w", suffix=".py") as file:
    ...     _ = file.write("def smaller(a, b):\\n    return a < b\\n")
    ...     file.flush()
    ...     [f"{one.old} -> {one.new}" for one in mutants_of(Path(file.name))]
    ['return a < b -> return None', 'a < b -> a <= b', 'a < b -> a >= b']
    """
    tree = ast.parse(path.read_text())
    found: list[Mutant] = []
    seen: Counter[tuple[str, str, str]] = Counter()
    for place, function in _places(tree, [], ""):
        node = _at(tree, place)
        for change in _changes(node):
            new = change(copy.deepcopy(node))
            name = function, _text(node), _text(new)
            found.append(Mutant(path, function, _line(node), *name[1:], seen[name], place, new))
            seen[name] += 1
    return found


def _places(node: ast.AST, before: Place, function: str) -> Iterator[tuple[Place, str]]:
    """Yield where every node that may change is, and in which function."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        parts = enumerate(value) if isinstance(value, list) else [(None, value)]
        for number, part in parts:
            if not isinstance(part, ast.AST) or isinstance(part, _SILENT):
                continue
            here = [*before, (field, number)]
            inside = function
            if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inside = f"{function}.{part.name}" if function else part.name
            elif not _is_docstring(part):
                yield here, function
            yield from _places(part, here, inside)


def _changes(node: ast.AST) -> Iterator[Change]:
    """Yield the changes that can be made to one node."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        for comparison in _COMPARISONS[type(node.ops[0])]:
            yield lambda copied, to=comparison: _with(copied, ops=[to()])  # type: ignore[misc]
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in _ARITHMETIC:
        operator = _ARITHMETIC[type(node.op)]
        if not _is_text(node):
            yield lambda copied: _with(copied, op=operator())
    elif isinstance(node, ast.BoolOp):
        other = ast.And if isinstance(node.op, ast.Or) else ast.Or
        yield lambda copied: _with(copied, op=other())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        yield lambda copied: copied.operand  # type: ignore[attr-defined]
    elif isinstance(node, ast.Constant):
        yield from _other_constants(node.value)
    elif isinstance(node, ast.Return) and not _is_none(node.value):
        yield lambda copied: _with(copied, value=ast.Constant(None))
    elif isinstance(node, ast.Call) and _is_swappable(node):
        yield lambda copied: _with(copied, args=[copied.args[1], copied.args[0], *copied.args[2:]])  # type: ignore[attr-defined]
    elif isinstance(node, ast.Break):
        yield lambda _: ast.Continue()
    elif isinstance(node, ast.Continue):
        yield lambda _: ast.Break()
    if _is_deletable(node):
        yield lambda _: ast.Pass()


def _other_constants(value: object) -> Iterator[Change]:
    """Yield a constant a little off; texts stay."""
    if isinstance(value, bool):
        yield lambda copied: _with(copied, value=not value)
    elif isinstance(value, int):
        yield lambda copied: _with(copied, value=value + 1)
    elif isinstance(value, float):
        yield lambda copied: _with(copied, value=value * 1.5 if value else 1.0)


def _is_deletable(node: ast.AST) -> bool:
    """Whether a statement can be left out without a name missing afterwards."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call | ast.Await)
    if isinstance(node, ast.AugAssign):
        return True
    if isinstance(node, ast.Assign):
        return all(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets)
    return False


def _is_swappable(node: ast.Call) -> bool:
    """Whether the first two arguments are given by position, and differ."""
    if len(node.args) < 2 or any(isinstance(one, ast.Starred) for one in node.args[:2]):
        return False
    if isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "max", "min"):
        return False
    return ast.dump(node.args[0]) != ast.dump(node.args[1])


def _is_text(node: ast.BinOp | ast.AugAssign) -> bool:
    """Whether an operation joins texts or, as ``int | None``, types."""
    parts = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.value]
    return any(
        isinstance(part, ast.JoinedStr)
        or (isinstance(part, ast.Constant) and (part.value is None or isinstance(part.value, str)))
        for part in parts
    )


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_none(node: ast.expr | None) -> bool:
    return node is None or (isinstance(node, ast.Constant) and node.value is None)


def _with(node: ast.AST, **fields: object) -> ast.AST:
    for name, value in fields.items():
        setattr(node, name, value)
    return node


def _at(tree: ast.AST, place: Place) -> ast.AST:
    node: ast.AST = tree
    for field, number in place:
        value = getattr(node, field)
        node = value if number is None else value[number]
    return node


def _line(node: ast.AST) -> int:
    return int(getattr(node, "lineno", 0))


def _text(node: ast.AST) -> str:
    return " ".join(ast.unparse(ast.fix_missing_locations(node)).split())
