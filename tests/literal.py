"""A slow, literal reading of collaborative mean estimation, used to judge the fast one.

Nothing here is clever: means are re-averaged from the raw samples at every step, membership is
rebuilt whenever it is needed, and agents are visited one at a time. One call handles one run.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

ALGORITHMS = (
    "round-robin",
    "restricted-round-robin",
    "soft-restricted-round-robin",
    "aggressive-restricted-round-robin",
    "local",
    "oracle",
    "eta-round-robin",
    "eta-restricted-round-robin",
)


def _radius(n: int, sigma: float, gamma: float) -> float:
    """Half-width of the confidence interval around an average of n samples."""
    if n == 0:
        return float("inf")
    return float(sigma * np.sqrt(2 / n * (1 + 1 / n) * np.log(np.sqrt(n + 1) / gamma)))


def _members(a: int, means: Floats, radii: Floats, threshold: float) -> Bools:
    """Which agents a cannot yet tell apart from itself, judging by its own memory row."""
    members = np.zeros(len(means), dtype=np.bool_)
    for peer in range(len(means)):
        distance = abs(means[a] - means[peer]) - radii[a] - radii[peer]
        members[peer] = distance <= threshold
    return members


def _next_in_turn(a: int, cursor: int, allowed: Bools) -> int | None:
    """The first allowed agent other than a met when walking round the circle after cursor."""
    agents = len(allowed)
    for offset in range(1, agents + 1):
        candidate = (cursor + offset) % agents
        if candidate != a and allowed[candidate]:
            return candidate
    return None


def _least_heard(a: int, counts: Ints, allowed: Bools) -> int | None:
    """The allowed agent other than a whose stored average is oldest, the lowest index first."""
    candidates = [peer for peer in range(len(counts)) if peer != a and allowed[peer]]
    if not candidates:
        return None
    return candidates[int(np.argmin(counts[candidates]))]


def _weights(
    algorithm: str, a: int, means: Floats, counts: Ints, radii: Floats, members: Bools
) -> Floats:
    """Weights of every agent in a's estimate; they sum to one and vanish on the never heard."""
    raw = np.zeros(len(means))
    for peer in range(len(means)):
        if not members[peer] or counts[peer] == 0:
            continue
        if algorithm == "local":
            raw[peer] = 1.0 if peer == a else 0.0
        elif algorithm.startswith("eta-"):
            raw[peer] = 1.0
        elif algorithm.startswith(("soft-", "aggressive-")):
            own_low, own_high = means[a] - radii[a], means[a] + radii[a]
            low, high = means[peer] - radii[peer], means[peer] + radii[peer]
            intersection = max(0.0, min(own_high, high) - max(own_low, low))
            union = max(own_high, high) - min(own_low, low)
            raw[peer] = counts[peer] * intersection / union
            if algorithm.startswith("aggressive-") and intersection <= min(radii[a], radii[peer]):
                raw[peer] = 0.0
        else:
            raw[peer] = counts[peer]
    return np.asarray(raw / raw.sum(), dtype=np.float64)


def literal(
    samples: Floats,
    algorithm: str,
    labels: npt.NDArray[np.integer[Any]],
    sigma: float,
    delta: float,
    eta: float = 0.0,
) -> tuple[Floats, Ints]:
    """Run one algorithm over one run of samples[time, agent].

    Returns estimates[time, agent] and class_counts[time, agent, label]: how many agents of each
    label stand in the agent's optimistic class once the step is over. sigma must be positive and
    delta in (0, 1); eta matters only to the algorithms named after it.
    """
    if algorithm not in ALGORITHMS:
        raise ValueError(f"unknown algorithm: {algorithm!r}")
    horizon, agents = samples.shape
    kinds = int(labels.max()) + 1
    gamma = delta / (8 * agents)
    threshold = eta if algorithm.startswith("eta-") else 0.0

    memory = np.zeros((agents, agents))  # memory[a, l]: the last average a received from l
    counts = np.zeros((agents, agents), dtype=np.int64)  # how many samples that average carried
    cursors = [-1] * agents  # the agent queried last, by round-robin
    estimates = np.zeros((horizon, agents))
    class_counts = np.zeros((horizon, agents, kinds), dtype=np.int64)

    def optimistic_class(a: int) -> tuple[Bools, Floats]:
        radii = np.array([_radius(int(n), sigma, gamma) for n in counts[a]])
        if algorithm == "oracle":
            return np.asarray(labels == labels[a], dtype=np.bool_), radii
        return _members(a, memory[a], radii, threshold), radii

    for t in range(1, horizon + 1):
        # Everybody perceives before anybody asks, so a reply given now carries t samples.
        own_means = samples[:t].mean(axis=0)
        for a in range(agents):
            memory[a, a] = own_means[a]
            counts[a, a] = t

        for a in range(agents):
            members, _ = optimistic_class(a)
            queried: int | None = None
            if algorithm == "oracle":
                queried = _least_heard(a, counts[a], members)
            elif algorithm in ("round-robin", "eta-round-robin"):
                queried = _next_in_turn(a, cursors[a], np.ones(agents, dtype=np.bool_))
            elif algorithm != "local":
                queried = _next_in_turn(a, cursors[a], members)
            if queried is not None:
                cursors[a] = queried
                memory[a, queried] = own_means[queried]
                counts[a, queried] = t

            members, radii = optimistic_class(a)
            weights = _weights(algorithm, a, memory[a], counts[a], radii, members)
            estimates[t - 1, a] = np.sum(weights * memory[a])
            for peer in range(agents):
                if members[peer]:
                    class_counts[t - 1, a, labels[peer]] += 1
    return estimates, class_counts
