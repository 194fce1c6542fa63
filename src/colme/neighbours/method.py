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

__all__ = ["METHODS", "LinkTest", "Links", "Method", "Reset", "Sharing", "Weights", "method_of"]


class Sharing(Word):
    """What neighbours tell each other besides their local means.

    Messages: sums of local means by the number of hops they have come.  Consensus: one number that
    everybody keeps averaging.

    Examples
    --------
    >>> [sharing.word for sharing in Sharing]
    ['messages', 'consensus']
    """

    MESSAGES = 0
    CONSENSUS = 1


class LinkTest(Word):
    """When a link is cut for good.

    Paired: both ends compare their means of equally many samples, so they see one number and cut
    together.  Overlap, published: each end compares its new mean to the one last heard, by two
    separate intervals, and decides alone.

    Examples
    --------
    >>> LinkTest.of("paired") is LinkTest.PAIRED
    True
    """

    PAIRED = 0
    OVERLAP_PUBLISHED = 1


class Links(Word):
    """Which links are used: all that are not cut, or those of them whose ends look alike now.

    Examples
    --------
    >>> [links.word for links in Links]
    ['uncut', 'likely']
    """

    UNCUT = 0
    LIKELY = 1


class Weights(Word):
    """How much a neighbour counts in a consensus: by both degrees, or all links alike.

    Examples
    --------
    >>> Weights.of("laplacian").name
    'LAPLACIAN'
    """

    METROPOLIS = 0
    LAPLACIAN = 1


class Reset(Word):
    """How a consensus forgets what came over links that are cut by now.

    Max-consensus: neighbours pass on the step of the last cut that they know of.  Global,
    published: everybody knows at once of any cut, until the truth says that no link is wrong.
    Fading: nobody says anything, a sixteenth of the steps so far is remembered.

    Examples
    --------
    >>> Reset.of("max-consensus").word
    'max-consensus'
    """

    MAX_CONSENSUS = 0
    GLOBAL_PUBLISHED = 1
    FADING = 2


@dataclass(frozen=True)
class Method:
    """A way to share, a test of links, which links are used, and how the past is forgotten.

    Parameters
    ----------
    sharing, test, links
        A member of the enum or its word.
    hops
        Messages: from how far away local means come.
    weights, reset
        Consensus: a member of the enum or its word.
    meaning
        One line for people.

    Examples
    --------
    >>> Method("messages", hops=2).test.word
    'paired'
    >>> Method("consensus", reset="global-published").needs_truth
    True
    """

    sharing: Sharing
    test: LinkTest
    links: Links
    hops: int
    weights: Weights
    reset: Reset
    meaning: str

    def __init__(
        self,
        sharing: Sharing | str,
        test: LinkTest | str = LinkTest.PAIRED,
        links: Links | str = Links.UNCUT,
        hops: int = 4,
        weights: Weights | str = Weights.METROPOLIS,
        reset: Reset | str = Reset.MAX_CONSENSUS,
        meaning: str = "composed by the user",
    ) -> None:
        object.__setattr__(self, "sharing", Sharing.of(sharing))
        object.__setattr__(self, "test", LinkTest.of(test))
        object.__setattr__(self, "links", Links.of(links))
        object.__setattr__(self, "hops", _check.positive_int("hops", hops))
        object.__setattr__(self, "weights", Weights.of(weights))
        object.__setattr__(self, "reset", Reset.of(reset))
        object.__setattr__(self, "meaning", meaning)

    @property
    def is_one_sided(self) -> bool:
        """Whether a link may be cut at one end and alive at the other."""
        return self.test == LinkTest.OVERLAP_PUBLISHED

    @property
    def reach(self) -> int:
        """From how many hops away something comes to an agent at one step."""
        return self.hops if self.sharing == Sharing.MESSAGES else 1

    @property
    def needs_truth(self) -> bool:
        """Whether it looks at the true classes, which no device knows."""
        return self.sharing == Sharing.CONSENSUS and self.reset == Reset.GLOBAL_PUBLISHED


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "b-colme": Method(
            Sharing.MESSAGES, meaning="sums of local means travel four hops; paired test"
        ),
        "c-colme": Method(
            Sharing.CONSENSUS, meaning="neighbours average; paired test, cuts are passed on"
        ),
        "cl-colme": Method(
            Sharing.CONSENSUS,
            weights=Weights.LAPLACIAN,
            meaning="the same, all links weighing alike: nobody tells its degree",
        ),
        "c-colme-likely": Method(
            Sharing.CONSENSUS,
            links=Links.LIKELY,
            weights=Weights.LAPLACIAN,
            reset=Reset.FADING,
            meaning="recommended: average with neighbours that look alike now, and forget",
        ),
        "b-colme-published": Method(
            Sharing.MESSAGES,
            LinkTest.OVERLAP_PUBLISHED,
            meaning="as published: each end of a link decides alone, by separate intervals",
        ),
        "c-colme-published": Method(
            Sharing.CONSENSUS,
            LinkTest.OVERLAP_PUBLISHED,
            reset=Reset.GLOBAL_PUBLISHED,
            meaning="as published: told of every cut in the fleet, and when the truth is found",
        ),
    }
)
"""The named presets: those that devices can run, and two as they were published."""


def method_of(method: str | Method) -> Method:
    """Return the method that a name stands for.

    Examples
    --------
    >>> method_of("b-colme").hops
    4
    """
    if isinstance(method, str):
        if method not in METHODS:
            raise ValueError(
                f"unknown method {method!r}; known: {', '.join(METHODS)}; or compose one with "
                "colme.neighbours.Method"
            )
        return METHODS[method]
    if not isinstance(method, Method):
        raise ValueError(  # noqa: TRY004 - one kind of error for all bad input
            f"a method is a name or a colme.neighbours.Method; received {method!r}"
        )
    return method
