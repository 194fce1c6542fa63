"""The world's truth: who belongs to which class, and the true means; it draws samples.

Lives here: problems and their streams.  Must not know algorithms.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme import _check
from colme.noise import Bernoulli, Gaussian, Noise

__all__ = ["Problem"]

Array = NDArray[np.float64]


class Problem:
    """Agents with labels, true means and noise.

    Parameters
    ----------
    labels
        The class of each agent: 0, 1, 2, ...
    true_means
        The mean of each agent; agents of one class usually share it, up to a local bias.
    noise
        How samples scatter: see `colme.noise`.

    Examples
    --------
    >>> problem = Problem.gaussian(class_means=[0.2, 0.4, 0.8], n_agents=200, sigma=0.5, seed=0)
    >>> problem.n_agents, problem.n_classes, problem.sigma
    (200, 3, 0.5)
    >>> problem.draw(horizon=10, runs=2, seed=1).shape
    (2, 10, 200)
    """

    def __init__(self, labels: ArrayLike, true_means: ArrayLike, noise: Noise) -> None:
        self.labels = np.asarray(labels)
        self.true_means = np.asarray(true_means, dtype=np.float64)
        self.noise = noise
        if self.labels.ndim != 1 or self.labels.shape != self.true_means.shape:
            raise ValueError(
                "labels and true_means must each hold one value per agent; received shapes "
                f"{self.labels.shape} and {self.true_means.shape}"
            )
        if self.labels.size == 0:
            raise ValueError("a problem needs at least one agent; received none")
        _check.labels(self.labels)
        if not np.isfinite(self.true_means).all():
            raise ValueError(f"true_means must be finite; received {self.true_means.tolist()}")
        noise.check(self.true_means)

    @property
    def n_agents(self) -> int:
        """How many agents there are."""
        return self.labels.size

    @property
    def n_classes(self) -> int:
        """How many classes the labels allow for."""
        return int(self.labels.max()) + 1

    @property
    def class_sizes(self) -> NDArray[np.int64]:
        """How many agents carry each label."""
        return np.bincount(self.labels)

    @property
    def sigma(self) -> float:
        """Sub-Gaussian scale of one sample."""
        return self.noise.sigma

    def draw(self, horizon: int, runs: int = 1, seed: int = 0) -> Array:
        """Return samples[run, time, agent].

        Run r is the same whether 10 or 1000 runs are asked for.

        Examples
        --------
        >>> problem = Problem.bernoulli([0.2, 0.8], n_agents=4)
        >>> few, many = problem.draw(5, runs=2, seed=7), problem.draw(5, runs=9, seed=7)
        >>> bool((few == many[:2]).all())
        True
        """
        horizon = _check.positive_int("horizon", horizon)
        samples = np.empty((_check.positive_int("runs", runs), horizon, self.n_agents))
        for run in range(runs):
            self._fill(samples[run], run, seed)
        return samples

    def draw_run(self, horizon: int, run: int = 0, seed: int = 0) -> Array:
        """Return samples[time, agent] of one run: what `draw` gives for it, without the others.

        Examples
        --------
        >>> problem = Problem.bernoulli([0.2, 0.8], n_agents=4)
        >>> one, many = problem.draw_run(5, run=3, seed=7), problem.draw(5, runs=9, seed=7)
        >>> bool((one == many[3]).all())
        True
        """
        samples = np.empty((_check.positive_int("horizon", horizon), self.n_agents))
        self._fill(samples, run, seed)
        return samples

    def _fill(self, samples: Array, run: int, seed: int) -> None:
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(run,)))
        self.noise.fill(rng, self.true_means, samples)

    @classmethod
    def of_classes(
        cls,
        noise: Noise,
        class_means: Sequence[float] | Array,
        *,
        n_agents: int | None = None,
        class_sizes: Sequence[int] | None = None,
        bias: float | ArrayLike = 0.0,
        seed: int = 0,
    ) -> Problem:
        """Return a problem with given class means and any noise.

        Parameters
        ----------
        noise
            How samples scatter around each agent's mean.
        class_means
            One mean per class.
        n_agents
            Draw each agent's class uniformly at random ...
        class_sizes
            ... or give the size of each class.
        bias
            Local bias inside a class: a number b draws it uniformly in [-b, b] for each agent,
            an array gives it.
        seed
            For classes and biases that are drawn.

        Examples
        --------
        >>> from colme.noise import Uniform
        >>> Problem.of_classes(Uniform(0.1), [1.0, 2.0], class_sizes=[1, 2]).true_means.tolist()
        [1.0, 2.0, 2.0]
        """
        means = np.asarray(class_means, dtype=np.float64)
        if means.ndim != 1 or means.size == 0:
            raise ValueError(f"class_means must list at least one mean; received {class_means!r}")
        rng = np.random.default_rng(np.random.SeedSequence(seed))
        labels = _draw_labels(rng, means.size, n_agents, class_sizes)
        if np.ndim(bias) == 0:
            reach = _check.non_negative("bias", bias)  # type: ignore[arg-type]
            biases = rng.uniform(-reach, reach, labels.size) if reach else np.zeros(labels.size)
        else:
            biases = np.asarray(bias, dtype=np.float64)
            if biases.shape != labels.shape:
                raise ValueError(
                    f"bias must be one number or one for each of the {labels.size} agents; "
                    f"received shape {biases.shape}"
                )
        return cls(labels, means[labels] + biases, noise)

    @classmethod
    def gaussian(
        cls,
        class_means: Sequence[float] | Array,
        n_agents: int | None = None,
        *,
        sigma: float,
        class_sizes: Sequence[int] | None = None,
        bias: float | ArrayLike = 0.0,
        seed: int = 0,
    ) -> Problem:
        """Return a problem with normal noise; the parameters are those of `of_classes`.

        Examples
        --------
        >>> Problem.gaussian([0.2, 0.8], class_sizes=[1, 2], sigma=0.5).labels.tolist()
        [0, 1, 1]
        """
        return cls.of_classes(
            Gaussian(sigma),
            class_means,
            n_agents=n_agents,
            class_sizes=class_sizes,
            bias=bias,
            seed=seed,
        )

    @classmethod
    def bernoulli(
        cls,
        class_means: Sequence[float] | Array,
        n_agents: int | None = None,
        *,
        class_sizes: Sequence[int] | None = None,
        bias: float | ArrayLike = 0.0,
        seed: int = 0,
    ) -> Problem:
        """Return a problem of zeros and ones; the parameters are those of `of_classes`.

        Examples
        --------
        >>> Problem.bernoulli([0.2, 0.8], n_agents=4).sigma
        0.5
        """
        return cls.of_classes(
            Bernoulli(),
            class_means,
            n_agents=n_agents,
            class_sizes=class_sizes,
            bias=bias,
            seed=seed,
        )

    @classmethod
    def random(
        cls,
        n_classes: int,
        n_agents: int,
        *,
        sigma: float,
        low: float = 0.0,
        high: float = 1.0,
        seed: int = 0,
    ) -> Problem:
        """Return a Gaussian problem whose class means are drawn uniformly in [low, high].

        Examples
        --------
        >>> Problem.random(n_classes=4, n_agents=10, sigma=0.5, seed=3).n_agents
        10
        """
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,)))
        means = rng.uniform(low, high, _check.positive_int("n_classes", n_classes))
        return cls.gaussian(means, n_agents, sigma=sigma, seed=seed)


def _draw_labels(
    rng: np.random.Generator,
    n_classes: int,
    n_agents: int | None,
    class_sizes: Sequence[int] | None,
) -> NDArray[np.int64]:
    if (n_agents is None) == (class_sizes is None):
        raise ValueError(
            "give either n_agents (classes drawn at random) or class_sizes (one per class); "
            f"received n_agents={n_agents}, class_sizes={class_sizes}"
        )
    if n_agents is not None:
        return rng.integers(0, n_classes, _check.positive_int("n_agents", n_agents))
    return np.repeat(np.arange(n_classes), _check.class_sizes(class_sizes, n_classes))
