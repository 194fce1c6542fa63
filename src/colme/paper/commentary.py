"""A short plain-language reading of each result, with the measured numbers put in.

Lives here: words.  Must not know how values are measured, or HTML.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Content = Mapping[str, Any]
_SHARP = "sharp"
_RR, _RESTRICTED = "round-robin", "restricted-round-robin"
_SOFT, _AGGRESSIVE = "soft-restricted-round-robin", "aggressive-restricted-round-robin"


def read_class_estimation(content: Content) -> str:
    """Tell when agents learn who is like them.

    Examples
    --------
    >>> cell = {"avg": 1360.0}
    >>> times = {"restricted-round-robin": {"0.2": cell, "0.4": cell, "0.8": {"avg": 377.0}},
    ...          "round-robin": {"0.8": {"avg": 421.0}},
    ...          "theory_restricted_zeta": {"0.2": 3817}}
    >>> read_class_estimation({"class_estimation_time": times})[:42]
    'At first every agent takes everybody for a'
    """
    times = content["class_estimation_time"]
    mine = {key: cell["avg"] for key, cell in times[_RESTRICTED].items()}
    return (
        "At first every agent takes everybody for a classmate, and drops a peer once their "
        "intervals no longer overlap. The far class goes first: agents with mean 0.8 know their "
        f"class after {mine['0.8']:.0f} steps on average, the others, whose nearest class is only "
        f"0.2 away, after {mine['0.2']:.0f} and {mine['0.4']:.0f}. Asking only those not yet ruled "
        f"out (restricted) saves {times[_RR]['0.8']['avg'] - mine['0.8']:.0f} steps in class 0.8 "
        "and next to nothing elsewhere. Theorem 1 promises "
        f"{times['theory_restricted_zeta']['0.2']} steps for class 0.2: it must hold for all but "
        "a tiny fraction of agents, so it is far above the average."
        f"{_sharp_classes(content)}"
    )


def _sharp_classes(content: Content) -> str:
    """Tell what `sharp` does, if it ran; likely classes in a sentence of their own."""
    times = content["class_estimation_time"].get(_SHARP)
    if times is None:
        return ""
    known = ", ".join(f"{cell['avg']:.0f}" for cell in times.values())
    text = (
        " Not in the paper: sharp tests two streams jointly instead of interval against interval, "
        f"and knows the three classes after {known} steps, at the same risk of ever dropping a "
        "classmate."
    )
    likely = content.get("likely_class_estimation_time", {}).get(_SHARP)
    if likely is None:
        return text
    guessed = ", ".join(f"{cell['avg']:.0f}" for cell in likely.values())
    return (
        f"{text} Its likely class, of which nothing is guaranteed, is right for good after "
        f"{guessed} steps; where it is wrong at the end, that counts as one step more than the run."
    )


def read_convergence(content: Content) -> str:
    """Tell who is within the wanted error first.

    Examples
    --------
    >>> row = {"0.1": {"avg": 41.8}, "0.01": {"avg": 346.0}}
    >>> names = ("local", "oracle", "restricted-round-robin", "soft-restricted-round-robin",
    ...          "aggressive-restricted-round-robin")
    >>> content = {"convergence_time": {"all": dict.fromkeys(names, row)},
    ...            "epsilon_threshold_all_agents": 0.0491}
    >>> "0.049" in read_convergence(content)
    True
    """
    rows = content["convergence_time"]["all"]
    coarse = {name: row["0.1"]["avg"] for name, row in rows.items() if "theory" not in name}
    fine = {
        name: row["0.01"]["avg"]
        for name, row in rows.items()
        if "theory" not in name and row["0.01"] is not None
    }
    alone = f"{fine['local']:.0f} steps alone, " if "local" in fine else ""
    return (
        f"Theory says that collaboration pays for every agent who wants an error below "
        f"{content['epsilon_threshold_all_agents']:.3f}. Above it, at 0.1, an agent alone needs "
        f"{coarse['local']:.0f} steps and simple pooling {coarse[_RESTRICTED]:.0f}, because it "
        "first pools agents that do not belong; soft and aggressive weights "
        f"({coarse[_SOFT]:.0f} and {coarse[_AGGRESSIVE]:.0f}) avoid most of that. Below it, at "
        f"0.01, the order turns round: {alone}{fine[_RESTRICTED]:.0f} with simple weights, "
        f"{fine[_SOFT]:.0f} soft, {fine[_AGGRESSIVE]:.0f} aggressive, and {fine['oracle']:.0f} "
        "for the oracle, which knows the classes."
        f"{_sharp_means(coarse, fine)}"
    )


def _sharp_means(coarse: Mapping[str, float], fine: Mapping[str, float]) -> str:
    if _SHARP not in coarse:
        return ""
    return (
        " Not in the paper: sharp, which weighs peers by how likely they are classmates, needs "
        f"{coarse[_SHARP]:.0f} steps to 0.1 and {fine[_SHARP]:.0f} to 0.01."
    )


def read_classes(content: Content) -> str:
    """Tell why classes differ, and why single cells may be off.

    Examples
    --------
    >>> read_classes({"class_sizes": {"three-class": {"0.2": 71, "0.4": 64, "0.8": 65}}})[:9]
    'While an '
    """
    sizes = content["class_sizes"]["three-class"]
    drawn = ", ".join(f"{size} agents with mean {mean}" for mean, size in sizes.items())
    middle = sum(float(mean) * size for mean, size in sizes.items()) / sum(sizes.values())
    return (
        "While an agent still pools everybody, its estimate sits near the mean of all agents, "
        f"here {middle:.3f} ({drawn}). How far that is from its own mean decides how soon it is "
        "within 0.1, above all for soft and aggressive weights in class 0.4, which begins less "
        "than 0.1 away. Whom an agent happens to ask first matters as much. The paper reports "
        "neither: other draws of the classes move these cells by tens of percent, while the time "
        "to 0.01, which comes after the classes are known, hardly moves."
    )


def read_two_class(content: Content) -> str:
    """Tell how much easier two far classes are.

    Examples
    --------
    >>> row = {"0.01": {"avg": 200.0}}
    >>> names = ("restricted-round-robin", "aggressive-restricted-round-robin", "oracle")
    >>> read_two_class({"two_class": {"convergence_time": dict.fromkeys(names, row)}})[:9]
    'With only'
    """
    rows = content["two_class"]["convergence_time"]
    return (
        "With only the two far classes left the bias is gone early: restricted round-robin is "
        f"within 0.01 after {rows[_RESTRICTED]['0.01']['avg']:.0f} steps, aggressive weights "
        f"after {rows[_AGGRESSIVE]['0.01']['avg']:.0f}, the oracle after "
        f"{rows['oracle']['0.01']['avg']:.0f}."
        + (
            f" Not in the paper: sharp, after {rows[_SHARP]['0.01']['avg']:.0f}."
            if _SHARP in rows
            else ""
        )
    )


def read_imperfect(content: Content) -> str:
    """Tell what changes when means in a class are close but not equal.

    Examples
    --------
    >>> case = {"within_zeta": 1.0, "convergence_time": {"0.05": {"within_tau": 1.0}}}
    >>> read_imperfect({"imperfect_classes": {"imperfect-separated": case}})[:9]
    'The paper'
    """
    cases = content["imperfect_classes"].values()
    shares = [case["within_zeta"] for case in cases]
    shares += [row["within_tau"] for case in cases for row in case["convergence_time"].values()]
    worst = min(shares)
    kept = "every agent in every run" if worst == 1 else f"{100 * worst:.6g} % of agents, or more"
    return (
        "The paper proves that agents find everybody within η of their own mean and estimate the "
        "mean of that group, but shows no experiment. Here are two: clusters with a local bias, "
        "where the group is the cluster; and a chain, where each agent's group overlaps its "
        "neighbours' without being equal. An agent alone cannot do it: its own mean is not the "
        "mean of its group, and its distance levels off at the difference. η-ColME ends where the "
        f"oracle does. The times of Theorems 3 and 4 are kept by {kept}."
    )


def read_gaps(content: Content) -> str:
    """Tell how the time to know one's class depends on the gap.

    Examples
    --------
    >>> row = {"zeta": 842, "class_estimation_time": {"avg": 280.0}}
    >>> read_gaps({"gap_sweep": [row]})[:7]
    'Halving'
    """
    ratios = [row["zeta"] / row["class_estimation_time"]["avg"] for row in content["gap_sweep"]]
    return (
        "Halving the gap makes a class about four times as long to identify, measured as in "
        f"theory. Theorem 1 lies {min(ratios):.1f} to {max(ratios):.1f} times above the average; "
        "it is closest where gaps are so wide that asking everybody once takes longest."
    )
