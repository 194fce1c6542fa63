"""The regressor: scikit-learn's own checks, all ways to name agents, pieces, unknown agents."""

import json
import os
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binomtest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline

from colme import Algorithm
from colme.data import ColMEMeans, Estimates, Summaries, estimate

NAMES = np.array([f"store {i % 9}" for i in range(180)])
VALUES = np.random.default_rng(0).normal(np.arange(180) % 3, 1.0)

CHECKS = """
import json
from sklearn.utils.estimator_checks import check_estimator
from colme.data import ColMEMeans
found = check_estimator(ColMEMeans(), on_fail=None, on_skip=None)
print(json.dumps([[one["check_name"], one["status"], repr(one["exception"])] for one in found]))
"""

COLUMNS: dict[str, Any] = {
    "text": NAMES[:, np.newaxis],
    "objects": NAMES.astype(object)[:, np.newaxis],
    "variable text": NAMES.astype(np.dtypes.StringDType())[:, np.newaxis],
    "list of names": NAMES.tolist(),
    "list of rows": [[name] for name in NAMES],
    "pandas": pd.DataFrame({"store": NAMES}),
    "pandas categories": pd.DataFrame({"store": pd.Categorical(NAMES)}),
    "pandas series": pd.Series(NAMES, name="store"),
    "polars": pl.DataFrame({"store": NAMES}),
    "polars series": pl.Series("store", NAMES),
    "arrow": pa.table({"store": NAMES}),
    "arrow batch": pa.record_batch({"store": pa.array(NAMES)}),
    "arrow array": pa.array(NAMES),
    "arrow chunks": pa.chunked_array([NAMES[:50], NAMES[50:]]),
    "arrow dictionary": pa.array(NAMES).dictionary_encode(),
}


def rows(seed: int, n_agents: int = 30, each: int = 10) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return agents of two classes, in random order, as a column, and their values."""
    rng = np.random.default_rng(seed)
    agents = rng.permutation(np.repeat(np.arange(n_agents), each))
    return agents[:, np.newaxis], rng.normal(2.0 * (agents % 2), 1.0)


def test_all_checks_of_scikit_learn_pass() -> None:
    environment = os.environ | {"SCIPY_ARRAY_API": "1"}
    done = subprocess.run(
        [sys.executable, "-c", CHECKS], capture_output=True, text=True, check=True, env=environment
    )
    found = json.loads(done.stdout.splitlines()[-1])
    assert len(found) >= 45
    assert [one for one in found if one[1] != "passed"] == []


@pytest.fixture(scope="module")
def expected() -> Estimates:
    return estimate(Summaries.of(NAMES, VALUES))


@pytest.mark.parametrize("kind", COLUMNS)
def test_agents_may_come_in_any_column(kind: str, expected: Estimates) -> None:
    model = ColMEMeans().fit(COLUMNS[kind], VALUES)
    assert model.agents_.tolist() == expected.summaries.agents.tolist()
    assert model.estimates_.estimates == pytest.approx(expected.estimates, abs=1e-12)
    places = np.searchsorted(model.agents_, NAMES)
    assert model.predict(COLUMNS[kind]) == pytest.approx(expected.estimates[places], abs=1e-12)
    assert model.n_features_in_ == 1


@pytest.mark.parametrize("values", [pd.Series, pl.Series, pa.array, list])
def test_values_may_come_in_any_column(values: Any) -> None:
    model = ColMEMeans().fit(COLUMNS["pandas"], values(VALUES))
    assert model.summaries_.means.tolist() == Summaries.of(NAMES, VALUES).means.tolist()


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_the_agent_may_be_any_column_and_others_are_not_looked_at(make: Any) -> None:
    numbers = np.arange(180) % 9
    data = {"hole": np.full(180, np.nan), "store": numbers, "word": NAMES}
    by_name = ColMEMeans(agent="store").fit(make(data), VALUES)
    assert by_name.agents_.tolist() == list(range(9))
    assert by_name.feature_names_in_.tolist() == list(data)
    last = ColMEMeans(agent=-1).fit(make(data), VALUES)
    assert last.agents_.tolist() == sorted(set(NAMES))
    assert last.predict(make(data)) == pytest.approx(by_name.predict(make(data)))


def test_days_are_names_and_whole_numbers_stay_whole() -> None:
    days = pd.DataFrame({"day": pd.to_datetime(["2024-05-01", "2024-05-02"] * 90)})
    model = ColMEMeans().fit(days, VALUES)
    assert [name[:10] for name in model.agents_] == ["2024-05-01", "2024-05-02"]
    coarse = days.astype("datetime64[s]")
    assert model.predict(coarse).tolist() == model.predict(days).tolist()
    assert len(set(model.predict(coarse))) == 2
    large = [2**60 + i % 2 for i in range(180)]
    assert ColMEMeans().fit(large, VALUES).agents_.tolist() == [2**60, 2**60 + 1]


def test_parameters_reach_the_estimates() -> None:
    x, y = rows(1)
    expected = estimate(
        Summaries.of(x[:, 0], y), algorithm="eta-round-robin", sigma=2.0, delta=0.2, eta=0.3
    )
    model = ColMEMeans("eta-round-robin", sigma=2.0, delta=0.2, eta=0.3).fit(x, y)
    assert model.estimates_.estimates.tolist() == expected.estimates.tolist()
    low, high = model.predict_interval(model.agents_[:, np.newaxis])
    assert (low.tolist(), high.tolist()) == (expected.low.tolist(), expected.high.tolist())
    ranged = ColMEMeans(value_range=(-9.0, 9.0)).fit(x, y)
    assert ranged.estimates_.noise.kind == "range"


def test_an_agent_never_seen_is_expected_at_the_average_of_the_estimates() -> None:
    x, y = rows(2)
    model = ColMEMeans().fit(x, y)
    assert model.predict([[999], [-1], [14.5]]) == pytest.approx(
        np.full(3, model.estimates_.estimates.mean())
    )
    low, high = model.predict_interval([[999]])
    assert (low[0], high[0]) == (-np.inf, np.inf)


def test_intervals_hold_as_often_as_they_say() -> None:
    """They are the same whatever the algorithm, and `local` is soon done."""
    outside, tried, agents = 0, 0, np.arange(20)[:, np.newaxis]
    for seed in range(40):
        x, y = rows(seed, n_agents=20, each=8)
        low, high = ColMEMeans("local", delta=0.2).fit(x, y).predict_interval(agents)
        if seed < 2:
            usual = ColMEMeans(delta=0.2).fit(x, y).predict_interval(agents)
            assert [end.tolist() for end in usual] == [low.tolist(), high.tolist()]
        truth = 2.0 * (np.arange(20) % 2)
        outside += int(np.sum((truth < low) | (truth > high)))
        tried += 20
    assert binomtest(outside, tried, 0.2, "greater").pvalue > 0.01
    assert outside > 0


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.lists(st.integers(1, 59), max_size=4, unique=True))
def test_pieces_give_the_summaries_of_the_whole(seed: int, cuts: list[int]) -> None:
    x, y = rows(seed, n_agents=6)
    model = ColMEMeans()
    for a, b in zip([0, *sorted(cuts)], [*sorted(cuts), 60], strict=True):
        model.partial_fit(x[a:b], y[a:b])
    whole = Summaries.of(x[:, 0], y)
    assert model.summaries_.agents.tolist() == whole.agents.tolist()
    assert model.summaries_.counts.tolist() == whole.counts.tolist()
    assert model.summaries_.means == pytest.approx(whole.means, abs=1e-12)
    assert model.summaries_.squares == pytest.approx(whole.squares, abs=1e-10)
    # without halves to judge by, pieces and the whole give the same
    pooled = ColMEMeans("restricted-round-robin").fit(x, y)
    assert clone(pooled).fit(x, y).predict(x) == pytest.approx(
        model.set_params(algorithm="restricted-round-robin").predict(x), abs=1e-9
    )


def test_rows_that_come_one_at_a_time_fall_into_both_halves() -> None:
    x, y = rows(3, n_agents=10, each=20)
    model = ColMEMeans()
    for i in range(len(y)):
        model.partial_fit(x[i : i + 1], y[i : i + 1])
    halves = model.summaries_.halves
    assert halves is not None
    assert binomtest(int(halves.counts[0].sum()), len(y), 0.5).pvalue > 0.01
    once = ColMEMeans().fit(x, y)
    truth = 2.0 * (x[:, 0] % 2)
    error = np.abs(model.predict(x) - truth).mean()
    assert error == pytest.approx(np.abs(once.predict(x) - truth).mean(), abs=0.05)


def test_estimates_follow_pieces_when_asked_for_and_fit_forgets() -> None:
    x, y = rows(4)
    model = ColMEMeans().fit(x, y)
    before = model.predict([[0]])[0]
    model.partial_fit([[0]] * 500, np.random.default_rng(0).normal(9.0, 1.0, 500))
    assert model.predict([[0]])[0] > before + 4
    assert model.fit(x, y).predict([[0]])[0] == before


def test_equal_samples_give_the_own_means_without_intervals() -> None:
    model = ColMEMeans("round-robin").fit(list("aabbb"), [1.0, 1.0, 5.0, 5.0, 5.0])
    assert model.predict(["b", "a"]).tolist() == [5.0, 1.0]
    assert model.estimates_["b"]["n"] == 3
    assert np.isinf(model.predict_interval(["a"])).all()
    assert "noise cannot be estimated" in model.estimates_.notes[0]
    with pytest.raises(ValueError, match="algorithm"):
        ColMEMeans("no such").fit(list("aabbb"), [1.0, 1.0, 5.0, 5.0, 5.0])


def test_tools_of_scikit_learn_take_it() -> None:
    x, y = rows(5)
    frame = pd.DataFrame({"more": np.arange(len(y)), "store": [f"s{a}" for a in x[:, 0]]})
    search = GridSearchCV(
        ColMEMeans(agent="store"),
        {"algorithm": ["sharp", "local"], "delta": [0.01, 0.2]},
        cv=KFold(3, shuffle=True, random_state=0),
    ).fit(frame, y)
    scores = search.cv_results_["mean_test_score"].reshape(2, 2)
    assert (scores[0] > scores[1]).all()
    assert search.best_params_["algorithm"] == "sharp"
    chosen = ColumnTransformer([("agent", "passthrough", ["store"])])
    piped = make_pipeline(chosen, ColMEMeans()).fit(frame, y)
    assert piped.predict(frame) == pytest.approx(ColMEMeans(agent=1).fit(frame, y).predict(frame))
    for data in (x, frame["store"], frame["store"].tolist(), pl.Series(frame["store"])):
        assert cross_val_score(ColMEMeans(), data, y, cv=3).mean() > 0.3


def test_copies_and_pickles_are_the_same() -> None:
    x, y = rows(6)
    own = Algorithm(query="round-robin", weighting="soft")
    for algorithm in ("sharp", own):
        model = ColMEMeans(algorithm, delta=0.1).fit(x, y)
        assert pickle.loads(pickle.dumps(model)).predict(x).tolist() == model.predict(x).tolist()
        twin = clone(model)
        assert twin.get_params() == model.get_params()
        assert not hasattr(twin, "summaries_")
        assert not hasattr(twin, "estimates_")


def test_it_is_not_asked_before_it_is_fitted() -> None:
    for ask in ("predict", "predict_interval"):
        with pytest.raises(NotFittedError):
            getattr(ColMEMeans(), ask)([["a"]])


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (["a", None], [1.0, 2.0], "None among text"),
        (["a", 1], [1.0, 2.0], "all by text or all by numbers"),
        ([None, 1], [1.0, 2.0], "every row needs an agent"),
        ([[np.inf], [1.0]], [1.0, 2.0], "none is named NaN or infinity"),
        (pd.DataFrame({"d": [pd.NaT, pd.Timestamp(0)]}), [1.0, 2.0], "every row needs an agent"),
        (np.array([{}, {}], dtype=object)[:, np.newaxis], [1.0, 2.0], "turn names into text"),
        (np.array(["a", "b"]), [1.0, 2.0], "Reshape your data"),
        (["a", "b"], [1.0, np.nan], "Input y contains NaN"),
        (["a", "b"], [1.0], "inconsistent numbers of samples"),
        (["a", "b"], None, "requires y"),
        (pd.DataFrame({"s": []}), [], "0 sample"),
    ],
)
def test_bad_rows_are_refused(x: Any, y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ColMEMeans().fit(x, y)


def test_bad_columns_and_kinds_are_refused() -> None:
    with pytest.raises(ValueError, match=r"no column 'shop': its columns are \['store'\]"):
        ColMEMeans(agent="shop").fit(COLUMNS["pandas"], VALUES)
    with pytest.raises(ValueError, match="which has 1; received 1"):
        ColMEMeans(agent=1).fit(COLUMNS["text"], VALUES)
    model = ColMEMeans().fit(COLUMNS["text"], VALUES)
    with pytest.raises(ValueError, match="named by numbers in one call and by text"):
        model.predict([[1]])
    with pytest.raises(ValueError, match="names agents by text, the other by numbers"):
        model.partial_fit([[1]], [2.0])


def test_without_scikit_learn_the_rest_is_there() -> None:
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "import colme.data\n"
        "from colme.data import *\n"
        "assert 'ColMEMeans' in dir(colme.data)\n"
        "try:\n    colme.data.ColMEMeans\n"
        "except ImportError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'colme[sklearn]'" in done.stdout
