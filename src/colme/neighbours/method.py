"""What a method is: how neighbours share, when they cut a link, and what they forget.

Lives here: the vocabulary of choices and the named presets, frozen.  Must not know how a method
runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from colme import _check
from colme.algorithm import Word


class Sharing(Word):
    """What neighbours send each other besides their local means.

    Messages: sums of local means by the number of hops they have come.  Consensus: one number that
    everybody keeps averaging.

    Examples
    --------
    >>> {name: preset.sharing.word for name, preset in METHODS.items()}["b-colme"]
    'messages'
    """

    MESSAGES = 0
    CONSENSUS = 1


class LinkTest(Word):
    """When a link is cut for good.

    Paired: both ends compare their means of equally many samples.  They see the same numbers and
    cut together.  Overlap, published: each end compares its new mean to the one last heard, by two
    separate intervals, and decides alone.

    Examples
    --------
    >>> [name for name, preset in METHODS.items() if preset.test == LinkTest.OVERLAP_PUBLISHED]
    ['b-colme-published', 'c-colme-published']
    """

    PAIRED = 0
    OVERLAP_PUBLISHED = 1


class Links(Word):
    """Which links are used: all that are uncut, or only those whose ends look alike now.

    Examples
    --------
    >>> Method("consensus", links="likely").links == Links.LIKELY
    True
    """

    UNCUT = 0
    LIKELY = 1


class LinkWeights(Word):
    """How much a neighbour counts in a consensus: by both degrees, or the same for all links.

    Examples
    --------
    >>> METHODS["cl-colme"].weights == LinkWeights.LAPLACIAN
    True
    """

    METROPOLIS = 0
    LAPLACIAN = 1


class Reset(Word):
    """How a consensus forgets what came over links that have been cut since.

    Max-consensus: neighbours pass on the step of the last cut that they know of.  Global,
    published: everybody knows at once of any cut, until the truth says that no link is wrong.
    Fading: nobody says anything; the last sixteenth of the steps so far is remembered.

    Examples
    --------
    >>> METHODS["c-colme"].reset.word
    'max-consensus'
    """

    MAX_CONSENSUS = 0
    GLOBAL_PUBLISHED = 1
    FADING = 2


@dataclass(frozen=True)
class Method:
    """How neighbours share, test links, choose among them, and forget.

    All choices are members of their enum, or their words.  `hops`, how far local means travel, is
    for messages only; `weights` and `reset` are for a consensus only.  `meaning` is one line for
    people.

    Examples
    --------
    >>> Method("messages", hops=2).name
    'messages paired uncut'
    """

    sharing: Sharing
    test: LinkTest
    links: Links
    hops: int
    weights: LinkWeights
    reset: Reset
    meaning: str

    def __init__(
        self,
        sharing: Sharing | str,
        test: LinkTest | str = LinkTest.PAIRED,
        links: Links | str = Links.UNCUT,
        hops: int = 4,
        weights: LinkWeights | str = LinkWeights.METROPOLIS,
        reset: Reset | str = Reset.MAX_CONSENSUS,
        meaning: str = "composed by the user",
    ) -> None:
        vars(self).update(  # frozen: fields cannot be assigned
            sharing=Sharing.of(sharing),
            test=LinkTest.of(test),
            links=Links.of(links),
            hops=_check.positive_int("hops", hops),
            weights=LinkWeights.of(weights),
            reset=Reset.of(reset),
            meaning=meaning,
        )

    @property
    def is_one_sided(self) -> bool:
        """Whether a link may be cut at one end and alive at the other."""
        return self.test == LinkTest.OVERLAP_PUBLISHED

    @property
    def name(self) -> str:
        """The name of an equal preset, or the words that the method is composed of."""
        names = (name for name, preset in METHODS.items() if preset == self)
        return next(names, f"{self.sharing.word} {self.test.word} {self.links.word}")

    @property
    def reach(self) -> int:
        """From how many hops away something comes to an agent in one step."""
        return self.hops if self.sharing == Sharing.MESSAGES else 1


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "b-colme": Method("messages", meaning="sums of local means travel four hops; paired test"),
        "c-colme": Method(
            "consensus", meaning="neighbours average; paired test, cuts are passed on"
        ),
        "cl-colme": Method(
            "consensus",
            weights="laplacian",
            meaning="the same with equal weights for all links: nobody sends its degree",
        ),
        "c-colme-likely": Method(
            "consensus",
            links="likely",
            weights="laplacian",
            reset="fading",
            meaning="recommended: average with neighbours that look alike now, and forget",
        ),
        "b-colme-published": Method(
            "messages",
            "overlap-published",
            meaning="as published: each end of a link decides alone, by separate intervals",
        ),
        "c-colme-published": Method(
            "consensus",
            "overlap-published",
            reset="global-published",
            meaning="as published: knows every cut in the fleet, and when all links are right",
        ),
    }
)
"""The named presets: four that devices can run, and two as they were published."""


def method_of(method: str | Method) -> Method:
    """Return the method that a name stands for.

    Examples
    --------
    >>> method_of("b-colme").hops
    4
    """
    if isinstance(method, Method):
        return method
    if not isinstance(method, str):
        raise ValueError(  # noqa: TRY004 - one kind of error for all bad input
            f"a method is a name or a colme.neighbours.Method; received {method!r}"
        )
    if method not in METHODS:
        raise ValueError(
            f"unknown method {method!r}; known: {', '.join(METHODS)}; or compose one with "
            "colme.neighbours.Method"
        )
    return METHODS[method]
