"""What is public: complete, documented, and shown by an example that runs."""

import importlib
import inspect
import pkgutil
import re
from types import ModuleType
from typing import Any

import pytest

import colme
import colme.data
import colme.experiment
import colme.live.fleet
import colme.live.keys
import colme.live.sources
import colme.live.store
import colme.pages
import colme.studies
import colme.sweep.engines

MODULES = [
    importlib.import_module(f"colme.{found.name}")
    for found in pkgutil.iter_modules(colme.__path__)
    if not found.ispkg and found.name not in ("__main__", "_terminal", "cli")  # the command line
]
PACKAGES = [
    colme.bounds,
    colme.contacts,
    colme.data,
    colme.data.comparing,
    colme.data.estimating,
    colme.data.reading,
    colme.data.replaying,
    colme.data.report,
    colme.experiment,
    colme.kernels,
    colme.large,
    colme.live,
    colme.live.fleet,
    colme.live.keys,
    colme.live.sources,
    colme.live.store,
    colme.model,
    colme.neighbours,
    colme.pages,
    colme.problem,
    colme.rules,
    colme.studies,
    colme.sweep,
    colme.sweep.engines,
    colme.theory,
]
MODULES += PACKAGES
MODULES += [
    importlib.import_module(f"{package.__name__}.{found.name}")
    for package in PACKAGES
    for found in pkgutil.iter_modules(package.__path__)
]
OFFERED_LATE = [(colme.data, "ColMEMeans")]
"""Names that need a library which may be missing: loaded when they are first asked for."""
MEMBERS = [(module, name) for module in MODULES for name in module.__all__]
CALLABLES = [
    getattr(module, name) for module, name in MEMBERS if callable(getattr(module, name, None))
]


def own_callables(module: ModuleType) -> set[str]:
    """Return the public functions and classes that the module defines."""
    return {
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and getattr(value, "__module__", None) == module.__name__
        and (inspect.isclass(value) or inspect.isroutine(value) or hasattr(value, "function"))
    }


def test_the_package_offers_its_documented_names() -> None:
    assert colme.__all__ == [
        "ALGORITHMS",
        "METHODS",
        "Agent",
        "Algorithm",
        "Arrivals",
        "Change",
        "ClassTest",
        "Contacts",
        "Digest",
        "Gossip",
        "Problem",
        "Query",
        "QueryStrategy",
        "Record",
        "Reply",
        "Snapshot",
        "Trajectory",
        "Weighting",
        "bounds",
        "lockstep",
        "metrics",
        "simulate",
        "simulate_large",
        "simulate_neighbours",
        "theory",
    ]
    assert all(hasattr(colme, name) for name in colme.__all__)


def test_the_version_is_a_version() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", colme.__version__)


def test_every_name_the_package_offers_is_offered_by_its_module() -> None:
    for name in colme.__all__:
        value = getattr(colme, name)
        homes = [module for module in MODULES if getattr(module, name, None) is value]
        assert isinstance(value, ModuleType) or any(name in home.__all__ for home in homes)


@pytest.mark.parametrize(("module", "name"), OFFERED_LATE, ids=str)
def test_a_name_offered_late_is_seen_and_comes_from_a_module_that_offers_it(
    module: ModuleType, name: str
) -> None:
    assert name in dir(module)
    assert name not in module.__all__  # all names can be imported, whatever is installed
    value = getattr(module, name)
    assert name in importlib.import_module(value.__module__).__all__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        module.nothing  # noqa: B018


def constants_then_classes(name: str) -> tuple[bool, bool, str]:
    return not name.isupper(), not name[0].isupper(), name


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_a_module_offers_all_that_it_defines_in_order(module: ModuleType) -> None:
    names: list[str] = module.__all__
    assert names == sorted(set(names), key=constants_then_classes)
    assert all(hasattr(module, name) for name in names)
    assert own_callables(module) <= set(names)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_a_module_says_what_lives_in_it(module: ModuleType) -> None:
    assert module.__doc__
    assert re.search(r"(?i)must\s+not\s+know|nothing\s+here\s+knows", module.__doc__)


@pytest.mark.parametrize("value", CALLABLES, ids=lambda value: value.__name__)
def test_every_public_function_and_class_shows_an_example(value: Any) -> None:
    assert inspect.getdoc(value)
    assert ">>>" in value.__doc__


@pytest.mark.parametrize(
    "kind", [value for value in CALLABLES if inspect.isclass(value)], ids=lambda k: k.__name__
)
def test_every_public_method_has_a_docstring(kind: type) -> None:
    for name, method in vars(kind).items():
        described = inspect.isroutine(method) or isinstance(method, property | classmethod)
        if not name.startswith("_") and described:
            assert inspect.getdoc(getattr(kind, name)), f"{kind.__name__}.{name}"
