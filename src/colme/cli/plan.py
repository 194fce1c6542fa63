"""`colme plan`: what theory says.

Lives here: its flags.  Must not know how anything is computed or printed.
"""

from __future__ import annotations

from colme import _terminal, theory
from colme._terminal.plan import print_plan

Many = tuple[float, ...]


def plan(
    *,
    class_means: Many,
    sigma: float,
    class_sizes: tuple[int, ...] | None = None,
    agents: int | None = None,
    delta: float = 0.001,
    epsilon: Many = (0.1, 0.01),
    eta: float = 0.0,
    batch: int = 1,
    json: bool = False,
) -> None:
    """Tell from theory whether collaboration will pay and how long it will take.

    Times of the paper's class test stand above those of the joint test, which sharp uses.  They
    are in steps: each brings one query, and one sample or a batch of them.  For example:

        colme plan --class-means 0.2 0.4 0.8 --class-sizes 67 67 66 --sigma 0.5

        colme plan --class-means 0.2 0.25 0.8 --agents 90 --sigma 0.5 --eta 0.1 --json

        colme plan --class-means 0.2 0.8 --agents 50 --sigma 0.5 --batch 10

    Parameters
    ----------
    class_means
        True mean of each class, as far as you can guess.
    sigma
        Sub-Gaussian scale of one sample; for data in [low, high], (high - low) / 2.
    class_sizes
        Number of agents in each class; or give --agents.
    agents
        Number of agents, split evenly over the classes.
    delta
        Total risk of each agent's guarantees.
    epsilon
        Accuracies wanted.
    eta
        Agents whose means differ by at most this much count as one class.
    batch
        Number of samples each agent takes between two queries.
    json
        Print the times, in steps, as JSON: the paper's, and under "joint" the same for the joint
        test.
    """
    sizes = _plan_sizes(len(class_means), class_sizes, agents)
    result = theory.plan(class_means, sizes, sigma, delta, epsilon, eta, batch)
    if json:
        _terminal.print_json(result)
    else:
        print_plan(result)


def _plan_sizes(
    n_classes: int, class_sizes: tuple[int, ...] | None, agents: int | None
) -> tuple[int, ...]:
    if (class_sizes is None) == (agents is None):
        raise ValueError("give either --class-sizes or --agents")
    if class_sizes is not None:
        return class_sizes
    assert agents is not None
    share, rest = divmod(agents, n_classes)
    return tuple(share + (k < rest) for k in range(n_classes))
