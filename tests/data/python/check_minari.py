r"""Checks Kindred's Minari reader and writer against the real package, in both directions.

    build/venv/bin/python tests/data/python/check_minari.py build/release/tests/data/minari_bridge \
        hdf5 arrow parquet
"""

import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import gymnasium as gym
    import minari
    import numpy as np
    import PIL  # minari's storage needs it
    from minari.data_collector import EpisodeBuffer
    from minari.dataset.minari_storage import MinariStorage
except ImportError as missing:
    print(f"*** NOT TESTED: {missing}; 'scripts/setup test' installs what is needed")
    sys.exit(77)

bridge = sys.argv[1]


def ask(*arguments):
    return json.loads(subprocess.run([bridge, *map(str, arguments)], check=True,
                                     capture_output=True, text=True).stdout)


def flat(observation):
    """What Kindred makes of an observation: numeric parts that are no images, sorted by name."""
    if isinstance(observation, dict):
        keys = [key for key in sorted(observation) if getattr(observation[key], "ndim", 0) != 4]
        return np.concatenate([flat(observation[key]) for key in keys], axis=1)
    if isinstance(observation, tuple):
        return np.concatenate([flat(part) for part in observation], axis=1)
    return np.asarray(observation, dtype=np.float32).reshape(len(observation), -1)


def compare(dataset, found):
    episodes = list(dataset.iterate_episodes())
    lengths = [len(episode.rewards) for episode in episodes]
    assert found["offsets"] == np.cumsum([0, *lengths]).tolist()
    rows = [flat(episode.observations)[:-1] for episode in episodes]
    assert found["observation_dim"] == rows[0].shape[1]
    total = lambda arrays: float(sum(np.asarray(array, dtype=np.float64).sum() for array in arrays))
    assert np.isclose(found["observation_sum"], total(rows), rtol=1e-5)
    assert np.isclose(found["action_sum"], total(e.actions for e in episodes), rtol=1e-5)
    assert np.isclose(found["reward_sum"], total(e.rewards for e in episodes), rtol=1e-5)
    assert found["terminals"] == np.concatenate([e.terminations for e in episodes]).astype(int).tolist()
    assert found["timeouts"] == np.concatenate([e.truncations for e in episodes]).astype(int).tolist()
    discrete = isinstance(dataset.action_space, gym.spaces.Discrete)
    assert found["discrete"] == discrete
    assert found["actions"] == (dataset.action_space.n if discrete else dataset.action_space.shape[0])
    labels = [m.get("policy_id") for m in dataset.storage.get_episode_metadata(range(len(episodes)))]
    assert found["labels"] == (labels if None not in labels else [])


def check_written_by_kindred(folder, kind):
    found = ask("write", folder / kind, kind)
    dataset = minari.MinariDataset(folder / kind / "data")
    assert dataset.total_steps == found["offsets"][-1]
    for episode in dataset.iterate_episodes():
        assert dataset.observation_space.contains(episode.observations[0])
        assert dataset.action_space.contains(episode.actions[0])
    compare(dataset, found)
    dataset.storage.update_episode_metadata([{"policy_id": 3}] * dataset.total_episodes)
    assert set(ask("read", folder / kind)["labels"]) == {3}


def check_written_by_minari(folder, data_format, name, observation_space, action_space):
    path = folder / data_format / name / "data"
    path.parent.mkdir(parents=True)
    storage = MinariStorage.new(path, observation_space, action_space, data_format=data_format)
    episodes = []
    for length in (3, 1, 4):
        stack = lambda items: (
            {key: stack([item[key] for item in items]) for key in items[0]}
            if isinstance(items[0], dict) else
            tuple(stack(list(part)) for part in zip(*items)) if isinstance(items[0], tuple) else
            np.stack(items))
        episodes.append(EpisodeBuffer(
            observations=stack([observation_space.sample() for _ in range(length + 1)]),
            actions=stack([action_space.sample() for _ in range(length)]),
            rewards=list(np.random.rand(length)), terminations=[False] * (length - 1) + [True],
            truncations=[False] * length, infos=None, seed=7))
    storage.update_episodes(episodes)
    storage.update_metadata({"dataset_id": f"{name}-v0", "minari_version": "0.5.0"})
    dataset = minari.MinariDataset(path)
    found = ask("read", path.parent)
    compare(dataset, found)
    assert ask("read", path / "main_data.hdf5" if data_format == "hdf5" else path) == found
    return found["names"], found["ids"]


with tempfile.TemporaryDirectory() as temporary:
    folder = pathlib.Path(temporary)
    box = lambda *shape: gym.spaces.Box(-1, 1, shape, np.float64)
    for kind in ("discrete", "continuous"):
        check_written_by_kindred(folder, kind)
    spaces = {
        "box": (box(5), box(2)),
        "grid": (gym.spaces.Discrete(9), gym.spaces.Discrete(4)),
        "bytes": (gym.spaces.Box(0, 255, (7,), np.uint8), gym.spaces.Discrete(4)),
        "goal": (gym.spaces.Dict(
            observation=box(4), goal=box(2), camera=gym.spaces.Box(0, 255, (4, 4, 3), np.uint8),
            pair=gym.spaces.Tuple((box(1), box(3), *[gym.spaces.Discrete(3)] * 9))),
            gym.spaces.Box(-1, 1, (3,), np.float32)),
    }
    for name, (seen, done) in spaces.items():
        called = [check_written_by_minari(folder, data_format, name, seen, done) for data_format in sys.argv[2:]]
        assert all(each == called[0] for each in called), "every form has the same names"
print("Kindred and Minari", minari.__version__, "agree")
