"""numba is optional, imported late, and leaves the results as they are."""

import json
import math
import subprocess
import sys

import numpy as np

from colme import ALGORITHMS, Problem, simulate
from colme._compile import compiled, exponential, kernel

WITHOUT_NUMBA = """
import sys
sys.modules["numba"] = None
import json
from colme import ALGORITHMS, Problem, simulate
problem = Problem.gaussian([0.0, 0.5], n_agents=6, sigma=0.2, seed=1)
samples = problem.draw(12, runs=2, seed=2)
print(json.dumps({
    name: simulate(samples, name, sigma=0.05, labels=problem.labels).estimates.tolist()
    for name in ALGORITHMS
}))
"""

HEAVY = ("numba", "xarray", "h5netcdf", "pydantic", "matplotlib", "cyclopts", "rich", "scipy")


def python(program: str) -> str:
    command = [sys.executable, "-W", "error", "-c", program]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_without_numba_the_same_loops_run_plain() -> None:
    problem = Problem.gaussian([0.0, 0.5], n_agents=6, sigma=0.2, seed=1)
    samples = problem.draw(12, runs=2, seed=2)
    plain = json.loads(python(WITHOUT_NUMBA))
    assert list(plain) == list(ALGORITHMS)
    for name, estimates in plain.items():
        fast = simulate(samples, name, sigma=0.05, labels=problem.labels).estimates
        np.testing.assert_allclose(estimates, fast, rtol=0, atol=1e-12)  # type: ignore[arg-type]


def test_importing_colme_imports_nothing_heavy() -> None:
    loaded = python("import colme, sys; print(*sys.modules)").split()
    assert "colme.engine" in loaded
    assert not set(HEAVY) & set(loaded)


def test_a_rule_stays_the_function_it_was() -> None:
    def half(x: float) -> float:
        return x / 2

    assert compiled(half) is half
    assert half(3.0) == 1.5


def test_a_kernel_gives_what_its_plain_function_gives() -> None:
    @kernel
    def smallest_above(values: np.ndarray[tuple[int], np.dtype[np.float64]], bar: float) -> float:
        """Say what it does."""
        best = np.inf
        for value in values:
            if bar < value < best:
                best = value
        return best

    values = np.array([3.0, 1.0, 2.0])
    assert smallest_above(values, 1.5) == smallest_above.function(values, 1.5) == 2.0
    assert smallest_above(values, 3.0) == np.inf  # infinity keeps its meaning
    assert smallest_above.__doc__ == "Say what it does."


def test_the_compiled_exponential_is_the_exponential_one_by_one_and_many_at_once() -> None:
    @kernel
    def alone(x: float) -> float:
        return exponential(x)

    @kernel
    def together(
        values: np.ndarray[tuple[int], np.dtype[np.float64]],
        result: np.ndarray[tuple[int], np.dtype[np.float64]],
    ) -> None:
        for i in range(values.size):
            result[i] = exponential(values[i])

    rng = np.random.default_rng(1)
    grid = np.concatenate(
        [
            np.linspace(-700, 0, 20_001)[1:],
            -rng.exponential(1e-3, 1000),
            np.arange(-700, 1) * math.log(2) * 0.99,
            -np.logspace(-320, 2.8, 500),
            [-0.0],
        ]
    )
    result = np.empty_like(grid)
    together(grid, result)
    exact = np.array([math.exp(x) for x in grid])
    assert (abs(result / exact - 1) < 1e-15).all()
    np.testing.assert_array_equal(result, [alone(x) for x in grid])
    assert alone(0.0) == exponential(0.0) == 1
    for small in (-700.1, -1e9, -math.inf):
        assert alone(small) == 0
        assert exponential(small) < 1e-303
