"""The memory of the compiled loop: every field has a place, and what is saved comes back."""

from dataclasses import astuple, fields
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from colme.engine.workspace import Bookmark, Workspace, load_state, padded, save_state
from colme.model import Fit, Model
from colme.rules import Row, Turn
from colme.summary import View


def kept_arrays(workspace: Workspace) -> list[NDArray[Any]]:
    """Return all that an agent carries from one block of time to the next."""
    row, model = workspace.row, workspace.model
    rows = [*row.views, row.member, row.confirmed, *workspace.row_index]
    return [*map(np.asarray, (*rows, workspace.bookmark, *model))]


def scramble(workspace: Workspace, seed: int) -> None:
    """Write something else into everything that is kept."""
    rng = np.random.default_rng(seed)
    workspace.kept[:] = rng.integers(0, 2**8, workspace.kept.size)


def bits(workspace: Workspace) -> list[bytes]:
    return [array.tobytes() for array in kept_arrays(workspace)]


def test_the_records_of_the_loop_have_the_fields_that_are_declared() -> None:
    workspace = Workspace.blank(longest_row=5, n_classes=2)
    bookmark, fit = np.asarray(workspace.bookmark), np.asarray(workspace.model.fit)
    assert bookmark.dtype.names == Bookmark._fields
    assert bookmark.item() == tuple(Bookmark())
    assert fit.dtype.names == tuple(field.name for field in fields(Fit))
    assert fit.item() == astuple(Fit())


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (
            Bookmark,
            "own n_known cursor visited n_asked revisit n_changed n_uncounted weights total",
        ),
        (
            Fit,
            "next_fit n_classes width trust crowd_mean crowd_variance noise next_fresh "
            "n_forgotten lowest highest next_fit_asked",
        ),
        (View, "mean n_samples radius precision spread slope offset squares epoch variance"),
    ],
)
def test_what_is_carried_is_these_fields_in_this_order(kind: Any, names: str) -> None:
    declared = kind._fields if hasattr(kind, "_fields") else [field.name for field in fields(kind)]
    assert list(declared) == names.split()


def test_a_workspace_begins_blank_and_is_as_long_as_whole_vectors() -> None:
    workspace, n = Workspace.blank(longest_row=20, n_classes=3), padded(20)
    blank = Row.blank(n)
    for column, expected in zip(workspace.row.views, blank.views, strict=True):
        assert list(column) == list(expected)
    assert list(workspace.row.member) == list(blank.member) == [True] * n
    assert workspace.row_index.members_of.tolist() == [0] * 3
    for part, expected in zip(workspace.model[1:], Model.blank()[1:], strict=True):
        assert list(part) == list(expected)
    assert len(workspace.scratch.means) == n


@pytest.mark.parametrize(("n", "entries"), [(1, 16), (16, 16), (17, 32), (0, 0)])
def test_rows_are_filled_up_to_whole_vectors(n: int, entries: int) -> None:
    assert padded(n) == entries


@pytest.mark.parametrize("longest_row", [1, 7, 16, 33])
def test_what_is_saved_comes_back_bit_by_bit_for_each_agent(longest_row: int) -> None:
    workspace = Workspace.blank(longest_row, n_classes=2)
    states = np.empty((3, workspace.kept.size), np.int64)
    saved = []
    for a in range(3):
        scramble(workspace, seed=a)
        save_state(a, a, 3, Turn(4, 5, 6 + a), 7, (8, 9), (0.5, 0.25), workspace, states)
        saved.append(bits(workspace))
    assert len({*map(tuple, saved)}) == 3
    for a in (1, 0, 2):
        mark = load_state(a, workspace, states)
        assert mark == Bookmark(a, 3, 4, 5, 6 + a, 7, 8, 9, 0.5, 0.25)
        assert bits(workspace) == saved[a]


def test_the_model_is_saved_where_there_is_one_and_scratch_memory_never() -> None:
    for by_model in (False, True):
        workspace = Workspace.blank(5, 2, by_model)
        kept = workspace.kept
        inside = [np.shares_memory(kept, array) for array in kept_arrays(workspace)]
        n_model = len(Model._fields)
        assert all(inside[:-n_model])
        assert all(one == by_model for one in inside[-n_model:])
        assert not any(np.shares_memory(kept, np.asarray(part)) for part in workspace.scratch)


def test_arrays_lie_at_the_same_distances_in_every_workspace() -> None:
    def distances(workspace: Workspace) -> list[int]:
        arrays = [*kept_arrays(workspace), *map(np.asarray, workspace.scratch)]
        addresses = [array.__array_interface__["data"][0] for array in arrays]
        assert all(address % 64 == 0 for address in addresses)
        return [address - addresses[0] for address in addresses]

    assert distances(Workspace.blank(20, 3)) == distances(Workspace.blank(20, 3))
