"""The published tables, as data: what the paper reports for its 3-class problem.

Lives here: numbers as printed, under fixed keys.  Must not know how anything is measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

__all__ = ["FIRST_STEP", "PUBLISHED"]

FIRST_STEP = {"class_estimation_time": 1, "convergence_time": 0}
"""The number that each published table gives to the first step; ours always start at 1."""


def _t(avg: float, std: float, max: float) -> dict[str, float]:  # noqa: A002 - the table's word
    return {"avg": avg, "std": std, "max": max}


_TABLES: dict[str, Any] = {
    "class_estimation_time": {
        "round-robin": {
            "0.2": _t(1378, 194, 2150),
            "0.4": _t(1382, 191, 2159),
            "0.8": _t(407, 40, 662),
        },
        "restricted-round-robin": {
            "0.2": _t(1376, 211, 2163),
            "0.4": _t(1379, 210, 2245),
            "0.8": _t(373, 55, 934),
        },
        "theory_restricted_zeta": {"0.2": 3878, "0.4": 3878, "0.8": 1085},
    },
    "convergence_time": {
        "all": {
            "round-robin": {"0.1": _t(417, 230, 1239), "0.01": _t(916, 427, 2088)},
            "restricted-round-robin": {"0.1": _t(405, 227, 1175), "0.01": _t(894, 438, 1925)},
            "soft-restricted-round-robin": {"0.1": _t(82, 48, 340), "0.01": _t(608, 290, 1432)},
            "aggressive-restricted-round-robin": {
                "0.1": _t(56, 39, 340),
                "0.01": _t(335, 127, 958),
            },
            "local": {"0.1": _t(41, 39, 289), "0.01": _t(4494, 3945, 28616)},
            "oracle": {"0.1": _t(5, 4, 19), "0.01": _t(98, 63, 303)},
            "theory_restricted_tau": {"0.1": 3878, "0.01": 33406},
            "theory_local_tau": {"0.1": 885, "0.01": 100216},
        },
        "0.2": {
            "round-robin": {"0.1": _t(289, 92, 594), "0.01": _t(1207, 170, 1782)},
            "restricted-round-robin": {"0.1": _t(271, 77, 568), "0.01": _t(1194, 177, 1857)},
            "soft-restricted-round-robin": {"0.1": _t(111, 30, 239), "0.01": _t(761, 173, 1379)},
            "aggressive-restricted-round-robin": {"0.1": _t(74, 40, 215), "0.01": _t(382, 95, 830)},
            "local": {"0.1": _t(41, 40, 288), "0.01": _t(4548, 4075, 28616)},
            "oracle": {"0.1": _t(6, 4, 15), "0.01": _t(100, 63, 246)},
            "theory_restricted_tau": {"0.1": 3878, "0.01": 33406},
            "theory_local_tau": {"0.1": 885, "0.01": 100216},
        },
        "0.4": {
            "round-robin": {"0.1": _t(721, 160, 1239), "0.01": _t(1232, 181, 2088)},
            "restricted-round-robin": {"0.1": _t(708, 158, 1175), "0.01": _t(1216, 183, 1925)},
            "soft-restricted-round-robin": {"0.1": _t(31, 33, 340), "0.01": _t(829, 188, 1432)},
            "aggressive-restricted-round-robin": {"0.1": _t(35, 42, 340), "0.01": _t(420, 92, 832)},
            "local": {"0.1": _t(41, 39, 277), "0.01": _t(4482, 3846, 26488)},
            "oracle": {"0.1": _t(4, 3, 19), "0.01": _t(99, 70, 303)},
            "theory_restricted_tau": {"0.1": 3878, "0.01": 33406},
            "theory_local_tau": {"0.1": 885, "0.01": 100216},
        },
        "0.8": {
            "round-robin": {"0.1": _t(271, 35, 401), "0.01": _t(379, 38, 538)},
            "restricted-round-robin": {"0.1": _t(266, 31.25, 384), "0.01": _t(342, 38, 526)},
            "soft-restricted-round-robin": {"0.1": _t(100, 36, 232), "0.01": _t(280, 78, 958)},
            "aggressive-restricted-round-robin": {"0.1": _t(57, 24, 172), "0.01": _t(222, 90, 958)},
            "local": {"0.1": _t(41, 39, 289), "0.01": _t(4434, 3883, 27470)},
            "oracle": {"0.1": _t(6, 4, 17), "0.01": _t(95, 56, 208)},
            "theory_restricted_tau": {"0.1": 1085, "0.01": 33406},
            "theory_local_tau": {"0.1": 885, "0.01": 100216},
        },
    },
    "epsilon_threshold_all_agents": 0.049,
}

PUBLISHED: Mapping[str, Any] = MappingProxyType(_TABLES)
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
