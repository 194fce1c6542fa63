"""`colme plan`: exact times, for people and as JSON."""

from __future__ import annotations

import json

import pytest
from test_cli import run


def test_plan_prints_the_exact_times_of_the_three_class_problem(
    capsys: pytest.CaptureFixture[str],
) -> None:
    classes = ["--class-means", "0.2", "0.4", "0.8", "--class-sizes", "67", "67", "66"]
    rest = ["--sigma", "0.5", "--delta", "0.001", "--epsilon", "0.1", "0.01", "--json"]
    code, out, _ = run(capsys, "plan", *classes, *rest)
    plan = json.loads(out)
    assert code == 0
    assert plan["batch"] == 1
    assert plan["epsilon_threshold"] == pytest.approx(0.0491, abs=1e-4)
    assert [row["zeta"] for row in plan["classes"]] == [3813, 3813, 1017]
    assert plan["classes"][0] == {
        "mean": 0.2,
        "size": 67,
        "n_star": 3680,
        "zeta": 3813,
        "tau": {"0.1": 3813, "0.01": 3813},
        "tau_local": {"0.1": 885, "0.01": 100217},
        "tau_oracle": {"0.1": 47, "0.01": 1529},
        "epsilon_threshold": plan["epsilon_threshold"],
    }
    assert plan["epsilon_threshold"] == min(row["epsilon_threshold"] for row in plan["classes"])
    assert plan["risk"] == {"zeta": 0.000125, "tau": 0.00025}
    joint, paired = plan.pop("joint"), plan.pop("paired")
    assert joint.keys() == paired.keys() == plan.keys()
    assert [row["zeta"] for row in paired["classes"]] == [1803, 1803, 555]
    assert [row["zeta"] for row in joint["classes"]] == [2004, 2004, 587]
    assert joint["tau_model"] == {"0.1": 3357, "0.01": 379819}
    assert joint["classes"][0] == {
        "mean": 0.2,
        "size": 67,
        "n_star": 1871,
        "zeta": 2004,
        "tau": {"0.1": 2070, "0.01": 2070},
        "tau_local": {"0.1": 828, "0.01": 91418},
        "tau_oracle": {"0.1": 46, "0.01": 1398},
        "epsilon_threshold": joint["epsilon_threshold"],
    }


def test_plan_for_people_says_when_collaboration_pays_and_what_is_promised(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, _ = run(capsys, "plan", "--class-means", "0", "1", "--agents", "5", "--sigma", "1")
    assert code == 0
    said = " ".join(out.split())
    assert "Collaboration pays for every agent when the error wanted is below" in said
    assert "with probability at least 1 - 0.000125; its error with 1 - 0.00025" in said
    assert "of its own estimate no more than error <= 0.1 after" in said


def test_plan_shows_the_paper_above_the_joint_test_and_cuts_no_number(
    capsys: pytest.CaptureFixture[str],
) -> None:
    classes = ["--class-means", "0.2", "0.4", "0.8", "--class-sizes", "67", "67", "66"]
    _, out, _ = run(capsys, "plan", *classes, "--sigma", "0.5")
    rows = [line.split() for line in out.splitlines()]
    above = ["0.2", "67", "paper", "3813", "3813", "885", "47", "3813", "100217", "1529"]
    below = ["joint", "2004", "2070", "828", "46", "2070", "91418", "1398"]
    assert rows[rows.index(above) + 1] == below
    sharpest = ["paired", "1803", "1869", "828", "46", "1869", "91418", "1398"]
    assert rows[rows.index(above) + 2] == sharpest


def test_plan_in_batches_counts_steps_in_json_and_both_for_people(
    capsys: pytest.CaptureFixture[str],
) -> None:
    classes = ["--class-means", "0.2", "0.4", "0.8", "--class-sizes", "67", "67", "66"]
    arguments = ["plan", *classes, "--sigma", "0.5", "--batch", "10"]
    plan = json.loads(run(capsys, *arguments, "--json")[1])
    assert plan["batch"] == plan["joint"]["batch"] == 10
    assert [row["n_star"] for row in plan["joint"]["classes"]] == [1871, 1871, 455]
    assert [row["zeta"] for row in plan["joint"]["classes"]] == [387, 387, 245]
    _, out, _ = run(capsys, *arguments)
    rows = [line.split() for line in out.splitlines()]
    steps = ["joint", "387", "453", "83", "35", "453", "9142", "170"]
    assert steps in rows
    assert ["joint", *(f"{number}0" for number in steps[1:])] in rows
    assert "steps, which are queries" in out
    assert "samples of each agent, 10 in a step" in out


def test_plan_refuses_an_empty_batch(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["plan", "--class-means", "0", "1", "--agents", "5", "--sigma", "1"]
    code, _, err = run(capsys, *arguments, "--batch", "0")
    assert (code, err) == (2, "colme: batch must be at least 1; received 0\n")


def test_plan_of_one_class_has_no_threshold(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["plan", "--class-means", "1", "--agents", "3", "--sigma", "1", "--json"]
    code, out, _ = run(capsys, *arguments)
    assert code == 0
    assert json.loads(out)["epsilon_threshold"] is None
