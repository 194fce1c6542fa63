"""The report: one file with tables, figures, readings, parameters, versions and durations.

Lives here: what stands in the report, beside its outline.  Must not know how it looks, nor how
values are measured.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping, Sequence
from html import escape
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from colme.pages import TextTable as Table
from colme.pages import figure_html, figures_html, page_html, tables_html
from colme.paper import more_tables as more
from colme.paper.canvas import Drawing
from colme.paper.claims import Claim
from colme.paper.experiments import EXTRA_ALGORITHMS
from colme.paper.outline import NOTES, SECTIONS, Content, Section
from colme.paper.paper_tables import claim_table, class_estimation_table, convergence_table, summary
from colme.paper.published import compare

_PACKAGES = ("colme", "numpy", "numba", "matplotlib", "pydantic")
_PAPER = (
    "Asadi, Bellet, Maillard and Tommasi, “Collaborative Algorithms for Online Personalized Mean "
    "Estimation”, Transactions on Machine Learning Research, 2022"
)
_BESIDE = (
    f"Rows and curves named {', '.join(EXTRA_ALGORITHMS)} are not the paper’s: what was added "
    "here since, on the same samples. Verdicts concern the paper’s algorithms alone."
)
_EPSILONS, _MEANS = ("0.1", "0.01"), ("0.2", "0.4", "0.8")


def _class_estimation(content: Content) -> list[Table]:
    likely = [more.likely_table(content)] if "likely_class_estimation_time" in content else []
    return [class_estimation_table(content), *likely]


_TABLES: Mapping[str, Callable[[Content], Sequence[Table]]] = {
    "class_estimation": _class_estimation,
    "convergence": lambda content: [convergence_table(content, "all", e) for e in _EPSILONS],
    "classes": lambda content: [
        convergence_table(content, m, e) for e in _EPSILONS for m in _MEANS
    ],
    "two_class": lambda content: [more.two_class_table(content["two_class"])],
    "imperfect": lambda content: [
        more.imperfect_table(*case) for case in content["imperfect_classes"].items()
    ],
    "gaps": lambda content: [more.sweep_table(content["gap_sweep"])],
}
"""The tables of each section."""


def report_html(
    content: Content,
    claims: Sequence[Claim],
    drawings: Mapping[str, Drawing],
    durations: Mapping[str, float],
) -> str:
    """Return the report as one self-contained page.

    Examples
    --------
    >>> "What holds" in report_html({"class_sizes": {}, "parameters": {}}, (), {}, {})
    True
    """
    sections = [section for section in SECTIONS if section.needs in content]
    links = "".join(f'<a href="#s{k}">{escape(s.title)}</a> ' for k, s in enumerate(sections))
    body = [
        "<h1>Collaborative mean estimation: the paper’s experiments, run again</h1>",
        f'<p class="lead">Every table of {escape(_PAPER)}, beside what was measured here. '
        f"{escape(_BESIDE)}</p>",
        f"<nav>{links}<a href='#how'>Parameters, versions, durations</a></nav>",
        tables_html([summary(compare(content), claims)]),
        tables_html([more.sizes_table(content)]),
        tables_html([claim_table(claims)]),
        *(_section_html(k, s, content, drawings) for k, s in enumerate(sections)),
        '<h2 id="how">How it was run</h2>',
        tables_html([_parameters(content)]),
        tables_html([_pairs("Versions and machine", _environment())]),
        tables_html([_pairs("Durations", {k: f"{v:.1f} s" for k, v in durations.items()})]),
    ]
    return page_html("ColME: reproduction", "\n".join(body))


def _section_html(
    number: int, section: Section, content: Content, drawings: Mapping[str, Drawing]
) -> str:
    figures = [
        figure_html(drawings[figure.name].svg, figure.caption)
        for figure in section.figures
        if figure.name in drawings
    ]
    return (
        f'<h2 id="s{number}">{escape(section.title)}</h2>\n'
        f"<p>{escape(section.read(content))}</p>\n"
        f"{figures_html(figures)}{tables_html(_TABLES[section.name](content))}"
    )


def _parameters(content: Content) -> Table:
    names = ("horizon", "runs", "delta", "eta", "epsilons", "seed")
    rows = []
    for name, parts in content["parameters"].items():
        first, problem = parts[0], parts[0]["problem"]
        many = "" if len(parts) == 1 else f" (first of {len(parts)} gaps)"
        facts = [_text(first.get(key, "–")) for key in names]
        rows.append((name + many, _problem_text(problem), *facts, ", ".join(first["algorithms"])))
    header = ("experiment", "problem", *names, "algorithms")
    return Table("Parameters and seeds", header, tuple(rows), (NOTES["parameters"],))


def _problem_text(problem: Mapping[str, Any]) -> str:
    facts = {key: value for key, value in problem.items() if value}
    facts["seed"] = problem["seed"]
    return "; ".join(f"{key.replace('_', ' ')} {_text(value)}" for key, value in facts.items())


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _pairs(title: str, facts: Mapping[str, str]) -> Table:
    return Table(title, ("what", "value"), tuple(facts.items()))


def _environment() -> dict[str, str]:
    """Return versions and machine: they differ between machines, so no table has them."""
    facts = {"Python": platform.python_version()}
    for package in _PACKAGES:
        try:
            facts[package] = version(package)
        except PackageNotFoundError:
            facts[package] = "not installed"
    facts["system"] = f"{platform.system()} on {platform.machine()}"
    return facts | {"cores": str(os.cpu_count() or "unknown")}
