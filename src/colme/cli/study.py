"""`colme study`: one question, answered.

Lives here: its flags.  Must not know what a study measures, nor how it is printed.
"""

from __future__ import annotations

from pathlib import Path

from colme import _terminal, studies
from colme._terminal.study import print_questions, print_study
from colme.paper.output import prepare_folder
from colme.studies.catalogue import plan_of


def study(
    name: str | None = None,
    /,
    *,
    runs: int | None = None,
    seed: int = 0,
    out: Path = Path("studies"),
    threads: int | None = None,
    list: bool = False,  # noqa: A002 - the name of the flag
    json: bool = False,
) -> None:
    """Answer one question with a table, a figure and a sentence.

    For example:

        colme study --list

        colme study batches --runs 2 --out streams

    Parameters
    ----------
    name
        One of batches, rates, views, noise, drift, conservative, neighbours.
    runs
        Number of runs with fresh samples; by default as many as take less than half a minute.
    seed
        Seed for the samples.
    out
        Folder for NAME.json, NAME.md and NAME.svg.
    threads
        Number of threads (all cores); the result does not depend on it.
    list
        Print the studies and their questions instead.
    json
        Print what NAME.json holds.
    """
    if list:
        questions = {name: plan.question for name, plan in studies.STUDIES.items()}
        if json:
            _terminal.print_json(questions)
        else:
            print_questions(questions)
        return
    if name is None:
        raise ValueError(f"name a study; known: {', '.join(studies.STUDIES)}")
    plan_of(name)  # before anything is written
    folder = prepare_folder(out)
    with _terminal.progress() as progress:
        found = studies.run(name, runs=runs, seed=seed, threads=threads, progress=progress)
    paths = studies.save(found, folder)
    if json:
        _terminal.print_json(found.to_plain())
        return
    print_study(found, paths)
