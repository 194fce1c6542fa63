"""What is public: complete, documented, and shown by an example that runs."""

import importlib
import inspect
import pkgutil
import re
from types import ModuleType
from typing import Any, get_origin

import pytest

import colme
import colme.data

MODULES = [
    importlib.import_module(found.name)
    for found in pkgutil.walk_packages(colme.__path__, "colme.")
    if not re.match(r"colme\.(__main__|_terminal|cli)", found.name)  # the command line
]
PACKAGES = [module for module in (colme, *MODULES) if hasattr(module, "__path__")]
OFFERED_LATE = [(colme.data, "ColMEMeans")]
"""Names that need a library which may be missing: loaded when they are first asked for."""


def own_names(module: ModuleType) -> list[str]:
    """Return the public functions and classes that the module defines."""
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and getattr(value, "__module__", None) == module.__name__
        and (inspect.isclass(value) or inspect.isroutine(value) or hasattr(value, "function"))
        and get_origin(value) is None  # an alias of a type has no example
    ]


CALLABLES = [getattr(module, name) for module in MODULES for name in own_names(module)]


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


def test_the_version_is_a_version() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", colme.__version__)


def constants_then_classes(name: str) -> tuple[bool, bool, str]:
    return not name.isupper(), not name[0].isupper(), name


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_a_package_lists_what_it_offers_in_order(package: ModuleType) -> None:
    names: list[str] = getattr(package, "__all__", [])
    assert names == sorted(set(names), key=constants_then_classes)
    assert all(hasattr(package, name) for name in names)
    assert set(own_names(package)) <= set(names)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_only_packages_list_names_elsewhere_an_underscore_says_what_is_private(
    module: ModuleType,
) -> None:
    assert hasattr(module, "__path__") or not hasattr(module, "__all__")


@pytest.mark.parametrize(("module", "name"), OFFERED_LATE, ids=str)
def test_a_name_offered_late_is_seen_and_comes_from_a_module_that_defines_it(
    module: ModuleType, name: str
) -> None:
    assert name in dir(module)
    assert name not in module.__all__  # all names can be imported, whatever is installed
    value = getattr(module, name)
    assert name in own_names(importlib.import_module(value.__module__))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        module.nothing  # noqa: B018


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
