"""The world's truth: who belongs to which class, and the true means; it draws samples.

Lives here: problems and their streams.  Must not know algorithms.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme import _check
from colme.arrivals import check_arrivals
from colme.noise import Bernoulli, Gaussian, NoiseLaw
from colme.problem.changes import Change, check_changes, cohorts_of, mean_shifts, means_at
from colme.problem.classes import class_mean, draw_biases, draw_movers
from colme.problem.sample_stream import SampleStream

Array = NDArray[np.float64]
Changes = Iterable[Change]
Means: TypeAlias = Sequence[float] | Array


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
    changes
        Which agents have another mean from some step on.

    Examples
    --------
    >>> problem = Problem.gaussian(class_means=[0.2, 0.4, 0.8], n_agents=200, sigma=0.5, seed=0)
    >>> problem.n_agents, problem.n_classes, problem.sigma
    (200, 3, 0.5)
    >>> problem.draw(horizon=10, runs=2, seed=1).shape
    (2, 10, 200)
    """

    def __init__(
        self, labels: ArrayLike, true_means: ArrayLike, noise: NoiseLaw, changes: Changes = ()
    ) -> None:
        self.true_means = np.asarray(true_means, dtype=np.float64)
        self.n_agents = self.true_means.size
        usable = np.abs(self.true_means) <= _check.LARGEST_SAMPLE
        if self.true_means.ndim != 1 or self.n_agents == 0 or not usable.all():
            raise ValueError(
                "true_means must list the means of at least one agent, finite and at most "
                f"{_check.LARGEST_SAMPLE:g} in size; received {self.true_means.tolist()}"
            )
        self.labels = _check.labels(labels, self.n_agents)
        self.noise, self.sigma = noise, noise.sigma
        noise.check(self.true_means)
        given = tuple(changes)
        self.changes = check_changes(given, self.n_agents) if given else ()
        for change in self.changes:
            noise.check(np.full(self.n_agents, change.mean))

    @property
    def n_classes(self) -> int:
        """How many classes the labels allow for."""
        return int(self.labels.max()) + 1

    @property
    def class_sizes(self) -> NDArray[np.int64]:
        """How many agents carry each label."""
        return np.bincount(self.labels)

    @property
    def sigmas(self) -> Array:
        """Sub-Gaussian scale of one sample of each agent."""
        return np.full(self.n_agents, getattr(self.noise, "sigmas", ()) or self.noise.sigma)

    @property
    def cohorts(self) -> NDArray[np.int64]:
        """Agents of one label that change together share a cohort; without changes, the label."""
        return cohorts_of(self.labels, self.changes)

    def true_means_at(self, times: ArrayLike) -> Array:
        """Return the true means [time, agent] at given steps, counted from 1.

        Examples
        --------
        >>> problem = Problem.bernoulli([0.2, 0.8], class_sizes=[1, 1])
        >>> problem.changing([Change(5, [1], 0.2)]).true_means_at([4, 5]).tolist()
        [[0.2, 0.8], [0.2, 0.2]]
        """
        return means_at(self.true_means, self.changes, times)

    def changing(self, changes: Changes) -> Problem:
        """Return the same problem with these changes besides its own.

        Examples
        --------
        >>> problem = Problem.bernoulli([0.2, 0.8], class_sizes=[1, 1])
        >>> problem.changing([Change(5, [1], 0.2)]).cohorts.tolist()
        [0, 2]
        """
        return Problem(self.labels, self.true_means, self.noise, (*self.changes, *changes))

    def moving(self, label: int, to: int, share: float, time: int, seed: int = 0) -> Problem:
        """Return the same problem with a share of one class moving to another at step `time`.

        Their number is rounded to a whole one, and they are drawn from those that have not moved
        yet.  They go to the mean that the other class has at the start.

        Examples
        --------
        >>> problem = Problem.bernoulli([0.2, 0.8], class_sizes=[4, 1])
        >>> means = problem.moving(0, to=1, share=0.5, time=9).true_means_at([9])[0]
        >>> sorted(means.tolist())
        [0.2, 0.2, 0.8, 0.8, 0.8]
        """
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0, 2)))
        moved = {agent for change in self.changes for agent in change.agents}
        agents = draw_movers(rng, self.labels, label, share, moved)
        mean = class_mean(self.true_means, self.labels, to)
        return self.changing([Change(time, agents, mean)] if agents.size else ())

    def draw(
        self, horizon: int, runs: int | range = 1, seed: int = 0, arrivals: ArrayLike | None = None
    ) -> Array:
        """Return samples[run, time, agent] of the first runs, or of a range of runs.

        Run r is the same whether 10 or 1000 runs are asked for.  With `arrivals`, int[time, agent]
        or [run, time, agent], the result is samples[run, k, agent]: the k-th of each stream, with
        the mean of the step at which it arrives.  Streams that end sooner are filled up.

        Examples
        --------
        >>> problem = Problem.bernoulli([0.2, 0.8], n_agents=4)
        >>> few, many = problem.draw(5, runs=2, seed=7), problem.draw(5, runs=9, seed=7)
        >>> bool((few == many[:2]).all())
        True
        """
        horizon = _check.positive_int("horizon", horizon)
        numbers = runs if isinstance(runs, range) else range(_check.positive_int("runs", runs))
        if self.changes and (last := self.changes[-1].time) > horizon:
            raise ValueError(
                f"changes must lie within the {horizon} steps of the horizon; received one at step "
                f"{last}: drop it or draw more steps"
            )
        arrived, lengths = None, [horizon]
        if arrivals is not None:
            arrived = check_arrivals(arrivals, len(numbers), self.n_agents, horizon)
            lengths = [max(1, int(one.sum(axis=0, dtype=np.int64).max())) for one in arrived]
        samples = np.empty((len(numbers), max(lengths), self.n_agents))
        for i, run in enumerate(numbers):
            one = i % len(lengths)  # arrivals may be the same in all runs
            length, arriving = lengths[one], None if arrived is None else arrived[one]
            shifts = mean_shifts(self.changes, arrivals=arriving) if self.changes else ()
            stream = SampleStream(self.noise, self.true_means, shifts, run, seed)
            for part in stream.parts:
                part.fill(samples[i, :length, part.first : part.last])
            samples[i, length:] = stream.means  # another run has longer streams
        return samples

    def draw_run(
        self, horizon: int, run: int = 0, seed: int = 0, arrivals: ArrayLike | None = None
    ) -> Array:
        """Return samples[time, agent] of one run, with its arrivals[time, agent]; see `draw`.

        Examples
        --------
        >>> problem = Problem.bernoulli([0.2, 0.8], n_agents=4)
        >>> one, many = problem.draw_run(5, run=3, seed=7), problem.draw(5, runs=9, seed=7)
        >>> bool((one == many[3]).all())
        True
        """
        samples: Array = self.draw(horizon, range(run, run + 1), seed, arrivals)[0]
        return samples

    def sample_stream(self, run: int = 0, seed: int = 0, batch: int = 1) -> SampleStream:
        """Return the samples of one run, to be taken block by block: what `draw_run` gives.

        A step brings `batch` samples; changes come at the same step.

        Examples
        --------
        >>> problem = Problem.bernoulli([0.2, 0.8], n_agents=4)
        >>> stream = problem.sample_stream(run=3, seed=7)
        >>> bool((stream.take(2) == problem.draw_run(5, run=3, seed=7)[:2]).all())
        True
        """
        shifts = mean_shifts(self.changes, batch)
        return SampleStream(self.noise, self.true_means, shifts, run, seed)

    def flow(self, run: int = 0, seed: int = 0, batch: int = 1) -> SampleStream:
        """Return `sample_stream`, which had this name before."""
        warnings.warn("Problem.flow is now sample_stream", DeprecationWarning, stacklevel=2)
        return self.sample_stream(run, seed, batch)

    @classmethod
    def of_classes(
        cls,
        noise: NoiseLaw,
        class_means: Means,
        n_agents: int | None = None,
        *,
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
            Local bias inside a class: drawn uniformly in [-b, b] for a number b, or an array.
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
        if class_sizes is None and n_agents is not None:
            labels = rng.integers(0, means.size, _check.positive_int("n_agents", n_agents))
        elif n_agents is None and class_sizes is not None:
            sizes = _check.class_sizes(class_sizes, means.size)
            labels = np.repeat(np.arange(means.size), sizes)
        else:
            raise ValueError(
                "give either n_agents (classes drawn at random) or class_sizes (one per class); "
                f"received n_agents={n_agents}, class_sizes={class_sizes}"
            )
        true_means = means[labels]
        if np.ndim(bias) or bias:
            true_means += draw_biases(rng, labels.size, bias)
        return cls(labels, true_means, noise)

    @classmethod
    def gaussian(
        cls, class_means: Means, n_agents: int | None = None, *, sigma: float | Means, **others: Any
    ) -> Problem:
        """Return a problem with normal noise of one `sigma`, or one for each; see `of_classes`.

        Examples
        --------
        >>> Problem.gaussian([0.2, 0.8], class_sizes=[1, 2], sigma=0.5).labels.tolist()
        [0, 1, 1]
        """
        return cls.of_classes(Gaussian(sigma), class_means, n_agents, **others)

    @classmethod
    def bernoulli(cls, class_means: Means, n_agents: int | None = None, **others: Any) -> Problem:
        """Return a problem of zeros and ones; see `of_classes`.

        Examples
        --------
        >>> Problem.bernoulli([0.2, 0.8], n_agents=4).sigma
        0.5
        """
        return cls.of_classes(Bernoulli(), class_means, n_agents, **others)

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
