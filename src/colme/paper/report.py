"""The report: one file with tables, figures, readings, parameters, versions and durations.

Lives here: what stands in the report and in which order.  Must not know how it looks, nor how
values are measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from colme.pages import TextTable as Table
from colme.pages import figure_html, figures_html, page_html, tables_html
from colme.paper import commentary
from colme.paper.checks import compare
from colme.paper.claims import Claim
from colme.paper.experiments import EXTRA_ALGORITHMS
from colme.paper.figure_list import FIGURES
from colme.paper.more_tables import (
    imperfect_table,
    likely_table,
    sizes_table,
    sweep_table,
    two_class_table,
)
from colme.paper.paper_tables import class_estimation_table, convergence_table
from colme.paper.tables import claim_table, summary

if TYPE_CHECKING:
    from colme.paper.figures import Drawing


Content = Mapping[str, Any]

_PAPER = (
    "Asadi, Bellet, Maillard and Tommasi, “Collaborative Algorithms for Online Personalized Mean "
    "Estimation”, Transactions on Machine Learning Research, 2022"
)

_BESIDE = (
    f"Rows and curves named {', '.join(EXTRA_ALGORITHMS)} are not the paper’s: what was added "
    "here since, on the same samples. Verdicts concern the paper’s algorithms alone."
)


@dataclass(frozen=True)
class _Section:
    """A part of the report: it appears once `needs` is among the measured values."""

    title: str
    needs: str
    read: Callable[[Content], str]
    tables: Callable[[Content], Sequence[Table]]
    figures: tuple[str, ...]


def _by_class(content: Content) -> list[Table]:
    classes = ("0.2", "0.4", "0.8")
    return [convergence_table(content, c, e) for e in ("0.1", "0.01") for c in classes]


def _class_estimation(content: Content) -> list[Table]:
    likely = [likely_table(content)] if "likely_class_estimation_time" in content else []
    return [class_estimation_table(content), *likely]


_SECTIONS = (
    _Section(
        "Who is like me: class estimation",
        "class_estimation_time",
        commentary.read_class_estimation,
        _class_estimation,
        ("precision-three-class", "precision-0.2-0.8", "precision-0.4-0.8", "precision-0.2-0.4"),
    ),
    _Section(
        "What is my mean: convergence, all agents",
        "convergence_time",
        commentary.read_convergence,
        lambda content: [convergence_table(content, "all", e) for e in ("0.1", "0.01")],
        ("error-three-class", "convergence-0.1", "convergence-0.01"),
    ),
    _Section(
        "Convergence, class by class",
        "convergence_time",
        commentary.read_classes,
        _by_class,
        ("error-class-0.2", "error-class-0.4", "error-class-0.8"),
    ),
    _Section(
        "The 2-class problem",
        "two_class",
        commentary.read_two_class,
        lambda content: [two_class_table(content["two_class"])],
        ("precision-two-class", "error-two-class"),
    ),
    _Section(
        "Imperfect classes",
        "imperfect_classes",
        commentary.read_imperfect,
        lambda content: [imperfect_table(*item) for item in content["imperfect_classes"].items()],
        ("imperfect-separated", "imperfect-overlapping"),
    ),
    _Section(
        "Theory across gaps",
        "gap_sweep",
        commentary.read_gaps,
        lambda content: [sweep_table(content["gap_sweep"])],
        ("gap-sweep",),
    ),
)


def report_html(
    content: Content,
    claims: Sequence[Claim],
    drawings: Mapping[str, Drawing],
    durations: Mapping[str, float],
    environment: Mapping[str, str],
) -> str:
    """Return the report as one self-contained page.

    Examples
    --------
    >>> "What holds" in report_html({"class_sizes": {}, "parameters": {}}, (), {}, {}, {})
    True
    """
    sections = [section for section in _SECTIONS if section.needs in content]
    links = "".join(f'<a href="#s{k}">{escape(s.title)}</a> ' for k, s in enumerate(sections))
    body = [
        "<h1>Collaborative mean estimation: the paper’s experiments, run again</h1>",
        f'<p class="lead">Every table of {escape(_PAPER)}, beside what was measured here. '
        f"{escape(_BESIDE)}</p>",
        f"<nav>{links}<a href='#how'>Parameters, versions, durations</a></nav>",
        tables_html([summary(compare(content), claims)]),
        tables_html([sizes_table(content)]),
        tables_html([claim_table(claims)]),
        *(_section_html(k, s, content, drawings) for k, s in enumerate(sections)),
        '<h2 id="how">How it was run</h2>',
        tables_html([_parameters(content)]),
        tables_html([_pairs("Versions and machine", environment)]),
        tables_html([_pairs("Durations", {k: f"{v:.1f} s" for k, v in durations.items()})]),
    ]
    return page_html("ColME: reproduction", "\n".join(body))


def _section_html(
    number: int, section: _Section, content: Content, drawings: Mapping[str, Drawing]
) -> str:
    captions = {figure.name: figure.caption for figure in FIGURES}
    figures = [
        figure_html(drawings[name].svg, captions[name])
        for name in section.figures
        if name in drawings
    ]
    return (
        f'<h2 id="s{number}">{escape(section.title)}</h2>\n'
        f"<p>{escape(section.read(content))}</p>\n"
        f"{figures_html(figures)}{tables_html(section.tables(content))}"
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
    notes = ("Runs draw fresh samples from “seed”; every algorithm sees the same samples.",)
    return Table("Parameters and seeds", header, tuple(rows), notes)


def _problem_text(problem: Mapping[str, Any]) -> str:
    facts = {key: value for key, value in problem.items() if value}
    facts["seed"] = problem["seed"]
    return "; ".join(f"{key.replace('_', ' ')} {_text(value)}" for key, value in facts.items())


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _pairs(title: str, facts: Mapping[str, str]) -> Table:
    return Table(title, ("what", "value"), tuple(facts.items()))
