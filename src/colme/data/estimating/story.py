"""The story: what was found out about the agents of a table, in plain sentences.

Lives here: words for results.  Must not know how anything is computed or shown.
"""

from __future__ import annotations

from colme.data.estimating.estimates import Estimates

__all__ = ["story"]


def story(estimates: Estimates) -> tuple[str, ...]:
    """Return what was found out, sentence by sentence.

    Examples
    --------
    >>> from colme.data import Summaries, estimate
    >>> story(estimate(Summaries.of(["a", "a", "b"], [1.0, 3.0, 2.0])))
    ('2 agents in 1 classes.',)
    """
    return (f"{len(estimates)} agents in {len(estimates.class_table)} classes.",)
