"""Numbers that rules, models and bounds gave once, and must go on giving: a script and its cases.

The cases are small but reach every constant and every branch that only changes results a little,
where tests of properties notice nothing.  If a result changes on purpose, run
``python tests/pinned.py``: it writes ``pinned.json`` anew.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from colme import Agent, Algorithm, Query, bounds, rules
from colme.bounds import change_detector as detector
from colme.model import (
    Model,
    Scratch,
    add_member,
    chances,
    estimate,
    expected_mean,
    fit_noise,
    likely,
    note_forgotten,
    peer_chances,
    refit,
    sum_members,
    update_chances,
    update_peer,
)
from colme.model.classes import fit_variances
from colme.rules import Choice, Row, Turn
from colme.view import View, view_at

FILE = Path(__file__).with_suffix(".json")
SCENES: dict[str, tuple[list[float], list[float], float]] = {
    "one class": ([0.0], [1.0], 1.0),
    "two classes": ([0.0, 1.0], [0.6, 0.4], 0.8),
    "a small class": ([0.0, 0.7], [0.92, 0.08], 1.0),
    "four classes": ([0.0, 0.4, 1.0, 1.2], [0.4, 0.3, 0.2, 0.1], 0.5),
    "a loose class": ([k / 20 for k in range(12)], [1 / 12] * 12, 0.5),
    "ten classes": ([k / 3 for k in range(10)], [0.1] * 10, 0.4),
}
"""Means of classes, their shares, and the standard deviation of a sample."""


def row_of(scene: str, n: int, count: int, seed: int = 0) -> Row:
    """Return a row of agents of a scene, of whom each has about as many samples."""
    means, shares, sigma = SCENES[scene]
    rng = np.random.default_rng(seed)
    counts = rng.integers(max(1, count // 2), 2 * count, n).astype(float)
    counts[n // 2] = 0.0 if n > 5 else counts[n // 2]
    mean = rng.choice(means, n, p=shares) + sigma * rng.standard_normal(n) / np.sqrt(
        np.maximum(counts, 1)
    )
    squares = sigma**2 * rng.chisquare(np.maximum(counts - 1, 0.5)) * (counts > 1)
    return Row.blank(
        n,
        mean=(mean * (counts > 0)).tolist(),
        n_samples=counts.tolist(),
        squares=squares.tolist(),
        radius=[3 * sigma / math.sqrt(k) if k else math.inf for k in counts],
        spread=[sigma**2 / k if k else math.inf for k in counts],
        offset=[0.5 * math.log1p(k) if k else 0.0 for k in counts],
    )


def fitted(scene: str, n: int, count: int, seed: int = 0, scale: float = 2.0) -> Any:
    """Return what a model makes of a row: at once, later, and with a peer forgotten."""
    row, model, scratch = row_of(scene, n, count, seed), Model.blank(), Scratch.blank(n)
    found: list[Any] = []
    for n_asked in (4, 5, 9):
        fit_noise(n, scale, row, model)
        refit(0, n, count, n_asked, row, model, scratch)
        sum_members(0, n, row, model, scratch)
        found.append([*model.parts(), [estimate(0, n, row, model, scratch)]])
        row = row_of(scene, n, count, seed + n_asked)
        note_forgotten(row.views.mean[1] + 0.5, model)
    own = [0.0] * len(scratch.own)
    found.append([chances(row.views.mean[0], 50.0, model, own), own])
    view = view_at(row.views, 0)
    found.append([expected_mean(view, model, scratch)])
    same = [False] * n
    peer_chances(n, row, model, scratch)
    likely(0, n, row, model, scratch, same)
    found.append([int(one) for one in same])
    return found


def updated(scene: str) -> Any:
    """Return the sums of a model along replies of members, of the excluded and of the unheard."""
    found: list[Any] = []
    n = 20
    row, model, scratch = row_of(scene, n, 400), Model.blank(), Scratch.blank(n)
    fit_noise(n, 2.0, row, model)
    refit(0, n, 400, 30, row, model, scratch)
    row.member[3] = row.confirmed[4] = False
    sum_members(0, n, row, model, scratch)
    peer_chances(n, row, model, scratch)
    later = row_of(scene, n, 500, seed=8)
    for l in (1, 3, 4, n // 2, 1, 19):
        update_peer(l, view_at(later.views, (l + 1) % n), row, model, scratch)
        update_chances(l, row, model, scratch)
        found.append([model.weights, model.totals, [peers[l] for peers in scratch.peers]])
        found.append([estimate(0, n, row, model, scratch)])
    row.views.n_samples[0] = row.views.precision[0] = 0.0
    found.append([estimate(0, n, row, model, scratch)])
    return json.loads(json.dumps(found))


def loose(variance: float) -> Any:
    """Return what a model expects whose classes scatter, and by how much they do."""
    model, scratch = Model.blank(), two_classes()
    model.fit.n_classes, model.fit.width, model.fit.trust = 2.0, 2.0, 0.7
    model.fit.crowd_mean, model.fit.crowd_variance = 0.4, 0.1
    model.atoms[:2], model.shares[:2], model.shares[-1] = [0.0, 1.0], [0.5, 0.3], 0.2
    fit_variances(30, 2, 2.0, model, scratch)
    found: list[Any] = [list(model.variances)]
    model.variances[:2] = [variance, 2 * variance]
    for mean in (0.05, 0.9, 3.0):
        add_member(1.0, mean, 40.0, model, scratch)
        own = View(mean=mean + 0.1, n_samples=9.0, radius=0.3, precision=25.0)
        found += [model.weights, model.totals, [expected_mean(own, model, scratch)]]
    return json.loads(json.dumps(found))


def two_classes() -> Scratch:
    """Return thirty means of two classes, of which one scatters."""
    rng = np.random.default_rng(2)
    means = [*(0.05 * rng.standard_normal(15)), *(1 + 0.4 * rng.standard_normal(15))]
    return Scratch.blank(30)._replace(
        means=[float(mean) for mean in means], precisions=[400.0] * 30, roots=[20.0] * 30
    )


def streams_of(bound: Any, scale: float = 1.0) -> Any:
    """Return intervals and evidence along a stream that moves half-way."""
    rng, stream, found = np.random.default_rng(3), bound.stream(), []
    for k in range(240):
        stream.update(float(np.clip(scale * (rng.normal(0.2 + 0.9 * (k >= 120), 0.5)), -3, 4)))
        if k in (0, 1, 2, 5, 20, 60, 119, 125, 140, 180, 239):
            told = stream.evidence
            shape = [told.center, told.spread, told.slope, told.offset]
            seen = [stream.mean, stream.count, stream.squares, stream.epoch, *stream.interval]
            found.append([_plain(value) for value in [*seen, *shape]])
    return found


def splits() -> Any:
    """Return what the detector of changes says of all its splits."""
    found: list[Any] = [[detector.split_price(i) for i in (1, 2, 49, 50, 51, 400, 5000)]]
    parts = (4, 8), (4, 40), (100, 120), (100, 400), (20, 29), (20, 30)
    found += [
        detector.split_evidence(before, 0.1, count, 0.4, 0.25 * count, scale)
        for scale in (0.5, math.inf)
        for before, count in parts
    ]
    rng = np.random.default_rng(5)
    for scale, gap in ((0.5, 0.0), (0.5, 1.0), (math.inf, 1.0), (0.5, 0.35)):
        samples = np.where(np.arange(400) < 200, 0.0, gap) + 0.5 * rng.standard_normal(400)
        table, n_live, mean, squares = detector.SplitTable.blank(), 0, 0.0, 0.0
        lives, alarms = [], []
        for k, x in enumerate(samples.tolist(), 1):
            before = mean
            mean += (x - mean) / k
            squares += (x - before) * (x - mean)
            if k % detector.BLOCK == 0:
                n_live, alarm = detector.update_splits(k, mean, squares, scale, 6.9, n_live, table)
                lives.append(n_live)
                alarms.append(int(alarm))
        found.append([lives[::7], [alarms.index(1) if 1 in alarms else -1]])
    return found


def decisions() -> Any:
    """Return what every rule says of some rows."""
    found: list[Any] = []
    for scene, seed in (("two classes", 1), ("four classes", 2), ("one class", 3)):
        for test in ("overlap", "joint"):
            for weighting in ("simple", "soft", "aggressive", "class-uniform", "robust"):
                for eta, within in ((0.0, None), (0.2, None), (0.2, 0.9)):
                    row = row_of(scene, 14, 40, seed)
                    algorithm = Algorithm(
                        "restricted-round-robin", weighting, test, eta=eta, within=within
                    )
                    choice = Choice.of(algorithm, 0.02)
                    pooled = rules.pool(choice, 0, 14, row)
                    turn, asked = Turn(), []
                    for _ in range(18):
                        l, turn = rules.take_turn(choice, 0, 14, 4, turn, row)
                        asked.append(l)
                    flags = [*row.member, *row.confirmed]
                    found.append([_plain(pooled[1]), pooled[0], asked, list(map(int, flags))])
        model = Choice.of(Algorithm("restricted-round-robin", "model", "joint"), 0.02)
        row = row_of(scene, 14, 40, seed)
        row.views.precision[:] = [k / 0.8 for k in row.views.n_samples]
        found.append([rules.next_room(model, 0, 14, cursor, row) for cursor in range(-1, 13)])
    return found


def agents(**settings: Any) -> Any:
    """Return what six agents know after a while, one of them restored and one that moves."""
    rng, names = np.random.default_rng(7), list("abcdef")
    fleet = {name: Agent(name, delta=0.05, peers=names[:3], **settings) for name in names}
    for step in range(70):
        for l, agent in enumerate(fleet.values()):
            agent.perceive(float(np.clip(rng.normal(l % 2 + (step > 40) * (l == 3), 0.5), -3, 4)))
        for agent in fleet.values():
            agent.meet(names[step % 6])
            peer = agent.choose_peer()
            if peer is not None:
                agent.receive(fleet[peer].answer(Query(agent.name, peer)))
        if step == 30:
            fleet["b"] = Agent.restore(fleet["b"].snapshot())
    return [
        [
            agent.estimate,
            len(agent.optimistic_class),
            len(agent.likely_class),
            *agent.snapshot().turn,
        ]
        for agent in fleet.values()
    ]


_PLAIN = bounds.Laplace(0.5, 0.01)
CASES: dict[str, Callable[[], Any]] = {
    **{
        f"model, {scene}, {n} agents, {count} samples": lambda s=scene, n=n, c=count: fitted(
            s, n, c
        )  # type: ignore[misc]
        for scene in SCENES
        for n, count in ((6, 8), (15, 60), (48, 700))
    },
    "model, no scale": lambda: fitted("two classes", 20, 30, 4, math.inf),
    "model, precise": lambda: fitted("two classes", 20, 10**6, 4, 0.1),
    "model, updates": lambda: [updated(scene) for scene in SCENES],
    "model, loose classes": lambda: [loose(variance) for variance in (0.0, 0.02, 0.3)],
    "splits": splits,
    "decisions": decisions,
    "laplace": lambda: streams_of(_PLAIN),
    "normal mixture": lambda: streams_of(bounds.NormalMixture(0.5, 200)),
    "stitched": lambda: streams_of(bounds.Stitched(0.5, n_min=3)),
    "bernstein": lambda: streams_of(bounds.EmpiricalBernstein(-3, 4)),
    "betting": lambda: streams_of(bounds.Betting(-3, 4, n_grid=20)),
    "student": lambda: streams_of(bounds.Student(50)),
    "asymptotic": lambda: streams_of(bounds.Asymptotic(50)),
    "windowed": lambda: streams_of(bounds.Windowed(_PLAIN, 30)),
    "windowed asymptotic": lambda: streams_of(bounds.Windowed(bounds.Asymptotic(50), 40)),
    "discounted": lambda: streams_of(bounds.Discounted(_PLAIN, 0.95)),
    "discounted stitched": lambda: streams_of(bounds.Discounted(bounds.Stitched(0.5), 0.9)),
    "restarted": lambda: streams_of(bounds.Restarted(_PLAIN)),
    "restarted student": lambda: streams_of(bounds.Restarted(bounds.Student(50), alarm=0.01)),
    "inverses": lambda: [
        [bound.inverse(x) for x in (0.5, 0.1, 0.02)]
        for bound in (_PLAIN, bounds.NormalMixture(0.5, 200), bounds.Stitched(0.5, n_min=3))
    ],
    "risks": lambda: [
        [bounds.split_risk(0.01, n) for n in (1, 2, 50)],
        [bounds.spend_risk(0.01, n) for n in range(1, 9)],
        [bounds.tuned_prior(n, 0.05) for n in (10, 1000)],
    ],
    "agents": lambda: agents(sigma=0.5, max_agents=6),
    "agents, capped": lambda: agents(sigma=0.5, max_agents=6, cap=1.5),
    "agents without a maximum": lambda: agents(sigma=0.5),
    "agents with room for four": lambda: agents(sigma=0.5, max_agents=6, room=4),
    "robust agents": lambda: agents(sigma=0.5, max_agents=6, algorithm="robust"),
    "agents that restart": lambda: agents(bound=bounds.Restarted(_PLAIN), max_agents=6),
    "agents with windows": lambda: agents(bound=bounds.Windowed(_PLAIN, 20), max_agents=6),
}


def _plain(value: float) -> Any:
    """Return a number for JSON, which has no infinities and no NaN."""
    return float(value) if math.isfinite(value) else str(float(value))


def flat(value: Any) -> list[Any]:
    """Return all numbers of nested lists, one after the other."""
    if isinstance(value, (list, tuple)):
        return [one for part in value for one in flat(part)]
    return [value if isinstance(value, str) else _plain(value)]


def write() -> None:
    """Write what every case gives now."""
    cases = [f"{json.dumps(name)}: {json.dumps(flat(case()))}" for name, case in CASES.items()]
    FILE.write_text("{\n" + ",\n".join(cases) + "\n}\n")


if __name__ == "__main__":
    write()
