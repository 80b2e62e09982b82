"""Who acted when."""
import csv
import subprocess

import numpy as np
import pytest
from conftest import controllers

import kindred

LENGTH = 120
SWITCH = 60


@pytest.fixture(scope="module")
def turns():
    """Episodes of two controllers; in every other one the second takes over in the middle."""
    first = controllers(episodes=30, policies=1, length=LENGTH, noise=0.1, seed=1)
    rng = np.random.default_rng(5)
    other = rng.standard_normal((3, 2))
    episodes, truth = [], []
    for i, (seen, done) in enumerate(first):
        actors = np.zeros(LENGTH, np.int32)
        if i % 2:
            actors[SWITCH:] = 1
            after = seen[SWITCH:] @ other + 0.1 * rng.standard_normal((LENGTH - SWITCH, 2))
            done = np.concatenate([done[:SWITCH], after.astype(np.float32)])
        episodes.append((seen, done))
        truth.append(actors)
    return episodes, np.concatenate(truth)


def agree(found, truth):
    """The share of steps with the right one of two policies, whatever their numbers."""
    share = float(np.mean(found == truth))
    return max(share, 1 - share)


def test_says_who_acts_at_each_step(turns):
    episodes, truth = turns
    found = kindred.segment(episodes, seed=3)
    assert (found.n_policies, found.switches, len(found)) == (2, 15, 45)
    assert found.actors.dtype == np.int32 and found.actors.shape == truth.shape == found.chances.shape
    assert agree(found.actors, truth) > 0.98
    assert found.result["v"] > found.result["v_of_nobody"]
    frame = found.frame
    assert list(frame) == ["episode", "start", "end", "policy", "posterior", "earliest", "latest"]
    assert (frame["end"] - frame["start"]).sum() == len(truth)
    taken = frame[frame["start"] > 0]
    assert (taken["earliest"] <= taken["start"]).all() and (taken["start"] <= taken["latest"]).all()
    assert list(taken["episode"]) == [str(i) for i in range(1, 30, 2)]


def test_is_what_the_program_says(turns, tmp_path, program):
    episodes, _ = turns
    path = tmp_path / "turns.npz"
    np.savez(
        path,
        observations=np.concatenate([seen for seen, _ in episodes]),
        actions=np.concatenate([done for _, done in episodes]),
        terminals=np.zeros(30 * LENGTH, bool),
        timeouts=np.arange(30 * LENGTH) % LENGTH == LENGTH - 1,
    )
    subprocess.run([program, "segment", path, "-o", tmp_path / "found"], check=True, capture_output=True)
    frame = kindred.segment(path).frame
    with open(tmp_path / "found/segments.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for name in ("episode", "start", "end", "policy", "earliest", "latest"):
        assert [row[name] for row in rows] == [str(value) for value in frame[name]], name
    assert np.allclose([float(row["posterior"]) for row in rows], frame["posterior"], atol=1e-4)
    unsure = kindred.segment(path).unsure
    with open(tmp_path / "found/unsure.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for name in ("episode", "start", "end", "policy", "first", "last"):
        assert [row[name] for row in rows] == [str(value) for value in unsure[name]], name


def test_unsure_stretches_are_the_steps_below_90_percent():
    rng = np.random.default_rng(7)
    episodes = []
    for i in range(60):  # controllers that differ by as much as their noise
        seen = rng.standard_normal((LENGTH, 2)).astype(np.float32)
        sign = np.where((np.arange(LENGTH) >= SWITCH) == (i % 2 == 0), 0.3, -0.3)
        done = (sign * seen[:, 0] + 0.3 * rng.standard_normal(LENGTH)).astype(np.float32)
        episodes.append((seen, done[:, None]))
    found = kindred.segment(episodes, seed=1)
    unsure = found.unsure
    assert list(unsure) == ["episode", "start", "end", "policy", "posterior", "first", "last"]
    assert found.n_policies == 2 and len(unsure) > 0
    told = np.zeros(len(found.chances), bool)
    for row in unsure.itertuples():
        told[LENGTH * int(row.episode) + row.start : LENGTH * int(row.episode) + row.end] = True
        assert 0 <= row.first <= row.last < LENGTH
    assert (told == (found.chances < 0.9)).all()
    assert (unsure.groupby(["episode", "start"])["posterior"].sum() > 0.89).all()


def test_nobody_switches(episodes):
    found = kindred.segment(episodes, k=2)
    assert (found.n_policies, found.switches) == (2, 0)


def test_an_estimator_predicts_steps(turns):
    episodes, truth = turns
    pure = [(seen[:SWITCH], done[:SWITCH]) for seen, done in episodes[::2]]
    pure += [(seen[SWITCH:], done[SWITCH:]) for seen, done in episodes[1::2]]
    model = kindred.PGKMeans(n_clusters=2).fit(pure)
    first = model.labels_[0]
    steps = model.predict_steps(episodes)
    assert [len(actors) for actors in steps] == [LENGTH] * 30
    assert np.mean((np.concatenate(steps) == first) == (truth == 0)) > 0.98, "numbers are those of the fit"
    data = kindred.load(pure)
    model = kindred.PGKMeans(n_clusters=2).fit(data)
    assert [set(actors) for actors in model.predict_steps(data)] == [{label} for label in model.labels_]


def test_bad_input_is_named(episodes):
    with pytest.raises(ValueError, match="one per episode"):
        kindred.segment(episodes, known=[0, 1])
    with pytest.raises(ValueError, match="-1 is below"):
        kindred.segment(episodes, known=[-1] * len(episodes))
    with pytest.raises(ValueError, match="k"):
        kindred.segment(episodes, k=-3)
