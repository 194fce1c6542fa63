"""The published tables, as data: what the paper reports for its 3-class problem.

Lives here: numbers as printed, under fixed keys.  Must not know how anything is measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

FIRST_STEP = {"class_estimation_time": 1, "convergence_time": 0}
"""The number that each published table gives to the first step; ours always start at 1."""


_IDENTIFICATION = """
0.2 round-robin 1378 194 2150
0.4 round-robin 1382 191 2159
0.8 round-robin 407 40 662
0.2 restricted-round-robin 1376 211 2163
0.4 restricted-round-robin 1379 210 2245
0.8 restricted-round-robin 373 55 934
"""
"""Class estimation times: class mean, algorithm, then average, standard deviation and maximum."""

_CONVERGENCE = """
all round-robin 417 230 1239  916 427 2088
all restricted-round-robin 405 227 1175  894 438 1925
all soft-restricted-round-robin 82 48 340  608 290 1432
all aggressive-restricted-round-robin 56 39 340  335 127 958
all local 41 39 289  4494 3945 28616
all oracle 5 4 19  98 63 303
0.2 round-robin 289 92 594  1207 170 1782
0.2 restricted-round-robin 271 77 568  1194 177 1857
0.2 soft-restricted-round-robin 111 30 239  761 173 1379
0.2 aggressive-restricted-round-robin 74 40 215  382 95 830
0.2 local 41 40 288  4548 4075 28616
0.2 oracle 6 4 15  100 63 246
0.4 round-robin 721 160 1239  1232 181 2088
0.4 restricted-round-robin 708 158 1175  1216 183 1925
0.4 soft-restricted-round-robin 31 33 340  829 188 1432
0.4 aggressive-restricted-round-robin 35 42 340  420 92 832
0.4 local 41 39 277  4482 3846 26488
0.4 oracle 4 3 19  99 70 303
0.8 round-robin 271 35 401  379 38 538
0.8 restricted-round-robin 266 31.25 384  342 38 526
0.8 soft-restricted-round-robin 100 36 232  280 78 958
0.8 aggressive-restricted-round-robin 57 24 172  222 90 958
0.8 local 41 39 289  4434 3883 27470
0.8 oracle 6 4 17  95 56 208
"""
"""Convergence times: agents, algorithm, then the same three for error 0.1 and for error 0.01."""

_THEORY_TAU = {"all": 3878, "0.2": 3878, "0.4": 3878, "0.8": 1085}


def _spread(numbers: list[str]) -> dict[str, float]:
    values = [float(number) if "." in number else int(number) for number in numbers]
    return dict(zip(("avg", "std", "max"), values, strict=True))


def _tables() -> dict[str, Any]:
    identification: dict[str, Any] = {}
    for line in _IDENTIFICATION.split("\n")[1:-1]:
        agents, algorithm, *numbers = line.split()
        identification.setdefault(algorithm, {})[agents] = _spread(numbers)
    identification["theory_restricted_zeta"] = {"0.2": 3878, "0.4": 3878, "0.8": 1085}
    convergence: dict[str, Any] = {}
    for line in _CONVERGENCE.split("\n")[1:-1]:
        agents, algorithm, *numbers = line.split()
        cells = {"0.1": _spread(numbers[:3]), "0.01": _spread(numbers[3:])}
        convergence.setdefault(agents, {})[algorithm] = cells
    for agents, tau in _THEORY_TAU.items():
        convergence[agents]["theory_restricted_tau"] = {"0.1": tau, "0.01": 33406}
        convergence[agents]["theory_local_tau"] = {"0.1": 885, "0.01": 100216}
    return {
        "class_estimation_time": identification,
        "convergence_time": convergence,
        "epsilon_threshold_all_agents": 0.049,
    }


PUBLISHED: Mapping[str, Any] = MappingProxyType(_tables())
"""Average, standard deviation and maximum of times over agents and runs, by algorithm and class.

``class_estimation_time[algorithm][class mean]`` counts from 1,
``convergence_time["all" or class mean][algorithm][epsilon]`` from 0; rows that begin with
``theory`` hold one number each, and ``epsilon_threshold_all_agents`` is the accuracy below which
the paper expects collaboration to pay for every agent.

Examples
--------
>>> PUBLISHED["convergence_time"]["all"]["local"]["0.01"]["avg"]
4494
"""
