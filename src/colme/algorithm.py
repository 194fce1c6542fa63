"""What an algorithm is: whom to ask, who counts as a classmate, how to weigh them.

Lives here: the vocabulary of choices and the named presets, frozen.  Must not know how an
algorithm runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from types import MappingProxyType
from typing import Any, Self

from colme import _check


class Word(IntEnum):
    """An integer for the compiled rules, a word for people.

    Examples
    --------
    >>> Weighting.of("soft").word
    'soft'
    """

    @property
    def word(self) -> str:
        """The public spelling, for example ``class-uniform``."""
        return self.name.lower().replace("_", "-")

    @classmethod
    def of(cls, value: Self | str) -> Self:
        """Return the member that a word stands for."""
        for member in cls:
            if value in (member, member.word):
                return member
        allowed = ", ".join(member.word for member in cls)
        raise ValueError(f"{cls.__name__} must be one of {allowed}; received {value!r}")


class QueryStrategy(Word):
    """Whom an agent asks next.

    Examples
    --------
    >>> QueryStrategy.of("restricted-round-robin").name
    'RESTRICTED_ROUND_ROBIN'
    """

    NONE = 0
    ROUND_ROBIN = 1
    RESTRICTED_ROUND_ROBIN = 2
    STALEST = 3
    """Restricted, begun at a place of one's own, so that all ask different peers; and of the next
    eight, the one not heard of for longest."""


class ClassTest(Word):
    """Who may share the agent's mean.

    Peers whose intervals overlap with its own; classmates known a priori; peers that the joint
    test of both streams has never ruled out; or peers that the paired test has never ruled out,
    which compares both streams over their first n samples, and all peers at a common risk.

    Examples
    --------
    >>> ClassTest.of("overlap") is ClassTest.OVERLAP
    True
    """

    OVERLAP = 0
    KNOWN = 1
    JOINT = 2
    PAIRED = 3

    @property
    def is_final(self) -> bool:
        """Whether a peer that it rules out stays out."""
        return self in (ClassTest.JOINT, ClassTest.PAIRED)


class Weighting(Word):
    """How much each member of the class counts in the estimate.

    Examples
    --------
    >>> [weighting.word for weighting in Weighting]
    ['simple', 'soft', 'aggressive', 'class-uniform', 'model', 'robust']
    """

    SIMPLE = 0
    SOFT = 1
    AGGRESSIVE = 2
    CLASS_UNIFORM = 3
    MODEL = 4
    ROBUST = 5

    @property
    def needs_squares(self) -> bool:
        """Whether it looks at how much samples scatter."""
        return self in (Weighting.MODEL, Weighting.ROBUST)


@dataclass(frozen=True)
class Algorithm:
    """A query strategy, a class test, a weighting, and how many summaries a reply relays.

    Parameters
    ----------
    query, class_test, weighting
        A member of the enum or its word.
    eta
        Peers whose true means differ by at most η count as classmates (0: equal means).
    meaning
        One line for people.
    within
        Conservative: a peer is pooled only once its mean is shown to be less than this away.  By
        default optimistic: it is pooled until it is ruled out.
    relays
        How many summaries of others a reply carries, beside its sender's own: those with the most
        samples that its sender holds and the asker still wants.

    Examples
    --------
    >>> Algorithm(query="round-robin", weighting="soft").weighting.word
    'soft'
    """

    query: QueryStrategy
    weighting: Weighting
    class_test: ClassTest = ClassTest.OVERLAP
    eta: float = 0.0
    meaning: str = "composed by the user"
    within: float | None = None
    relays: int = 0

    def __init__(
        self,
        query: QueryStrategy | str,
        weighting: Weighting | str,
        class_test: ClassTest | str = ClassTest.OVERLAP,
        eta: float = 0.0,
        meaning: str = "composed by the user",
        within: float | None = None,
        relays: int = 0,
    ) -> None:
        object.__setattr__(self, "query", QueryStrategy.of(query))
        object.__setattr__(self, "weighting", Weighting.of(weighting))
        object.__setattr__(self, "class_test", ClassTest.of(class_test))
        object.__setattr__(self, "eta", _check.non_negative("eta", eta))
        object.__setattr__(self, "meaning", meaning)
        within = None if within is None else _check.positive("within", within)
        object.__setattr__(self, "within", within)
        object.__setattr__(self, "relays", _check.non_negative_int("relays", relays))


_RR, _RRR = QueryStrategy.ROUND_ROBIN, QueryStrategy.RESTRICTED_ROUND_ROBIN
_STALEST = QueryStrategy.STALEST

ALGORITHMS: Mapping[str, Algorithm] = MappingProxyType(
    {
        "sharp": Algorithm(
            _STALEST,
            Weighting.MODEL,
            ClassTest.PAIRED,
            meaning="recommended: sharper test, peers weighed by how likely they are classmates",
        ),
        "robust": Algorithm(
            _STALEST,
            Weighting.ROBUST,
            ClassTest.PAIRED,
            meaning="for fleets in which some may lie: a minority cannot move the estimate far",
        ),
        "round-robin": Algorithm(
            _RR, Weighting.SIMPLE, meaning="ask everyone in turn, pool possible classmates"
        ),
        "restricted-round-robin": Algorithm(
            _RRR, Weighting.SIMPLE, meaning="ask possible classmates in turn, pool them"
        ),
        "soft-restricted-round-robin": Algorithm(
            _RRR, Weighting.SOFT, meaning="the same, weighing peers by how much intervals overlap"
        ),
        "aggressive-restricted-round-robin": Algorithm(
            _RRR, Weighting.AGGRESSIVE, meaning="soft, and only peers that overlap by half or more"
        ),
        "local": Algorithm(
            QueryStrategy.NONE, Weighting.SIMPLE, meaning="baseline: ask nobody, own samples only"
        ),
        "oracle": Algorithm(
            _RRR,
            Weighting.SIMPLE,
            ClassTest.KNOWN,
            meaning="baseline: the true class is known from the start",
        ),
        "eta-round-robin": Algorithm(
            _RR,
            Weighting.CLASS_UNIFORM,
            meaning="mean of all agents within eta of one's own mean; ask everyone in turn",
        ),
        "eta-restricted-round-robin": Algorithm(
            _RRR,
            Weighting.CLASS_UNIFORM,
            meaning="mean of all agents within eta of one's own mean; ask possible members",
        ),
    }
)
"""The named presets: ours, the paper's six under its names, and its extension to η-classes."""


def resolve(
    algorithm: str | Algorithm,
    eta: float | None = None,
    within: float | None = None,
    relays: int | None = None,
) -> Algorithm:
    """Return the algorithm that a name stands for, with another η, `within` or `relays` if given.

    Examples
    --------
    >>> resolve("eta-round-robin", eta=0.1).eta
    0.1
    """
    if isinstance(algorithm, str):
        if algorithm not in ALGORITHMS:
            raise ValueError(
                f"unknown algorithm {algorithm!r}; known: {', '.join(ALGORITHMS)}; "
                "or compose one with colme.Algorithm"
            )
        algorithm = ALGORITHMS[algorithm]
    if not isinstance(algorithm, Algorithm):
        raise ValueError(  # noqa: TRY004 - one kind of error for all bad input
            f"an algorithm is a name or a colme.Algorithm; received {algorithm!r}"
        )
    given = {"eta": eta, "within": within, "relays": relays}
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    return replace(algorithm, **changes) if changes else algorithm


def name_of(algorithm: Algorithm) -> str:
    """Return what people call an algorithm: the name of its preset, or its parts.

    Examples
    --------
    >>> name_of(ALGORITHMS["local"]), name_of(Algorithm("round-robin", "soft"))
    ('local', 'round-robin soft eta=0')
    """
    for name, preset in ALGORITHMS.items():
        if preset == algorithm:
            return name
    return f"{algorithm.query.word} {algorithm.weighting.word} eta={algorithm.eta:g}"
