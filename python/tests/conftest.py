import os
import pathlib
import shutil

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def controllers(episodes=24, policies=2, length=40, obs_dim=3, act_dim=2, noise=0.3, seed=0):
    """Episodes of linear controllers that take turns, as (observations, actions)."""
    rng = np.random.default_rng(seed)
    weights = rng.standard_normal((policies, obs_dim, act_dim))
    found = []
    for i in range(episodes):
        seen = rng.standard_normal((length, obs_dim)).astype(np.float32)
        done = seen @ weights[i % policies] + noise * rng.standard_normal((length, act_dim))
        found.append((seen, done.astype(np.float32)))
    return found


@pytest.fixture
def episodes():
    return controllers()


@pytest.fixture
def truth():
    return np.arange(24) % 2


@pytest.fixture(scope="session")
def program():
    """The program that belongs to the module under test."""
    named = os.environ.get("KINDRED_PROGRAM")
    found = named or shutil.which("kindred")
    assert found, "no kindred program: set KINDRED_PROGRAM"
    return found


@pytest.fixture
def npz(tmp_path, episodes):
    """The same episodes in a file."""
    ends = np.cumsum([len(seen) for seen, _ in episodes]) - 1
    timeouts = np.zeros(ends[-1] + 1, bool)
    timeouts[ends] = True
    path = tmp_path / "data.npz"
    np.savez(
        path,
        observations=np.concatenate([seen for seen, _ in episodes]),
        actions=np.concatenate([done for _, done in episodes]),
        rewards=np.linspace(0, 1, len(timeouts), dtype=np.float32),
        terminals=np.zeros_like(timeouts),
        timeouts=timeouts,
    )
    return path
