"""Trajectories: read from files, or taken from what people hold in memory."""
from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kindred import _core

Array = npt.NDArray[Any]


class Dataset:
    """N episodes. Arrays it gives are views of Kindred's memory: they cannot be written to."""

    def __init__(self, core: _core.Dataset) -> None:
        self._core = core

    def __len__(self) -> int:
        return self._core.episodes

    def __repr__(self) -> str:
        kind = "discrete" if self._core.discrete else "continuous"
        return (
            f"<kindred.Dataset {self.path or 'of arrays'}: {len(self)} episodes, {self.steps} steps, "
            f"{self.obs_dim} numbers per observation, {kind} actions>"
        )

    def __getitem__(self, episode: int) -> tuple[Array, Array]:
        """Observations and actions of one episode."""
        if not -len(self) <= episode < len(self):
            raise IndexError(f"there is no episode {episode} of {len(self)}")
        begin, end = self.offsets[episode % len(self)], self.offsets[episode % len(self) + 1]
        seen = self._core.observations()
        rows = seen[0][seen[1][begin:end]] if isinstance(seen, tuple) else seen[begin:end]
        return rows, self.actions[begin:end]

    @property
    def path(self) -> str:
        """Where the file is; empty where there is none."""
        return self._core.path

    @property
    def steps(self) -> int:
        return self._core.steps

    @property
    def obs_dim(self) -> int:
        """Numbers per observation."""
        return self._core.obs_dim

    @property
    def discrete(self) -> bool:
        """Whether an action is one of so many."""
        return self._core.discrete

    @property
    def action_count(self) -> int:
        """How many actions there are, or numbers per action."""
        return self._core.action_count

    @property
    def observations(self) -> Array:
        """[steps, obs_dim]; a copy only where observations that repeat are kept once."""
        seen = self._core.observations()
        rows: Array = seen[0][seen[1]] if isinstance(seen, tuple) else seen
        return rows

    @property
    def actions(self) -> Array:
        """[steps] where they are discrete, else [steps, numbers]."""
        return self._core.actions()

    @property
    def rewards(self) -> Array | None:
        return self._core.rewards()

    @property
    def terminals(self) -> Array | None:
        """[steps]: 1 where an episode ended by itself."""
        return self._core.terminals()

    @property
    def timeouts(self) -> Array | None:
        """[steps]: 1 where an episode was cut off."""
        return self._core.timeouts()

    @property
    def offsets(self) -> Array:
        """[episodes + 1]: the steps of episode i are offsets[i] to offsets[i + 1]."""
        return self._core.offsets()

    @property
    def lengths(self) -> Array:
        return np.diff(self.offsets)

    @property
    def returns(self) -> Array | None:
        """The sum of rewards of each episode."""
        values = self._core.returns()
        return values if len(values) else None

    @property
    def ids(self) -> list[str]:
        """What the source calls each episode."""
        return self._core.ids

    @property
    def labels(self) -> Array | None:
        """The true policy of each episode, where the source says; -1: unknown."""
        return self._core.labels()

    @property
    def label_names(self) -> list[str] | None:
        """What label i is called, where the source names them."""
        return self._core.label_names or None

    @property
    def observation_names(self) -> list[str] | None:
        """What each number of an observation is called, where the source names them."""
        return self._core.observation_names or None

    @property
    def action_names(self) -> list[str] | None:
        """What each number of an action is called, where the source names them."""
        return self._core.action_names or None

    def describe(self) -> dict[str, Any]:
        """Format, size and dimensions."""
        described: dict[str, Any] = json.loads(self._core.description)
        return described

    def examine(self) -> list[dict[str, Any]]:
        """What looks odd, as `kindred info` says it: dicts with key, severity, evidence, advice and details."""
        found: list[dict[str, Any]] = json.loads(self._core.examine())
        return found

    def write_labels(self, labels: npt.ArrayLike, *, key: str = "policy_id", replace: bool = False) -> list[str]:
        """Writes labels into the file, where the tools of its format look for them; returns what changed."""
        return self._core.write_labels(self._labels(labels).tolist(), key, replace)

    def undo(self) -> list[str]:
        """Brings the file back, to the last byte, to what it was before labels were written."""
        return self._core.undo()

    def filter(self, labels: npt.ArrayLike, clusters: Iterable[int], path: str | os.PathLike[str]) -> str:
        """Writes a dataset with the episodes of some clusters; returns its path.

        In the format of the file; what comes from arrays is written as D4RL's HDF5, or as NPZ where the
        path ends so.
        """
        chosen = np.isin(self._labels(labels), list(clusters))
        if not chosen.any():
            raise ValueError(f"no episode has one of the labels {sorted(clusters)}")
        self._core.extract(np.flatnonzero(chosen).tolist(), os.fspath(path))
        return os.fspath(path)

    def split(self, labels: npt.ArrayLike, folder: str | os.PathLike[str]) -> list[str]:
        """Writes one dataset per cluster into a folder; returns their paths."""
        found = self._labels(labels)
        home = pathlib.Path(folder)
        home.mkdir(parents=True, exist_ok=True)
        suffix = pathlib.Path(self.path).suffix if self.path else ".hdf5"
        return [self.filter(found, [label], home / f"policy_{label}{suffix}") for label in np.unique(found)]

    def _labels(self, labels: npt.ArrayLike) -> Array:
        found = np.asarray(labels)
        if found.shape != (len(self),) or not np.issubdtype(found.dtype, np.integer):
            raise ValueError(f"labels must be {len(self)} whole numbers, one per episode, not {found.dtype} {found.shape}")
        return found.astype(np.int32, copy=False)


def load(source: Any, **options: Any) -> Dataset:
    """A dataset from whatever holds one.

    A path of any format Kindred reads (D4RL, Minari, robomimic, LeRobot, NPZ, Parquet, Kindred's own),
    or several that are one dataset; the id of a local Minari dataset; a Minari dataset, a d3rlpy buffer,
    or episodes in a list. Options are those of `kindred info --help`, with underscores: ``load(path,
    truth="labels.csv", min_length=10)``, ``load(path, obs_key=["state[0:7]", "goal"], action_key="u", episode_key="run")``.
    """
    if isinstance(source, Dataset):
        return source
    files = [source] if isinstance(source, (str, os.PathLike)) else source
    if isinstance(files, (list, tuple)) and files and all(isinstance(file, (str, os.PathLike)) for file in files):
        named = {name.replace("_", "-"): value for name, value in options.items()}
        return Dataset(_core.load([_found(os.fspath(file)) for file in files], json.dumps(named, default=os.fspath)))
    if options:
        raise TypeError(f"{', '.join(options)} can be given for files only")
    return _from_memory(source)


def _found(path: str) -> str:
    return path if os.path.exists(path) else _minari_path(path) or path


def _minari_path(name: str) -> str | None:
    """Where Minari keeps a dataset of this id, if it does."""
    home = os.environ.get("MINARI_DATASETS_PATH") or os.path.expanduser("~/.minari/datasets")
    path = os.path.join(home, name)
    return path if os.path.isdir(os.path.join(path, "data")) else None


def from_arrays(
    observations: npt.ArrayLike,
    actions: npt.ArrayLike,
    *,
    lengths: npt.ArrayLike | None = None,
    offsets: npt.ArrayLike | None = None,
    rewards: npt.ArrayLike | None = None,
    terminals: npt.ArrayLike | None = None,
    timeouts: npt.ArrayLike | None = None,
    labels: npt.ArrayLike | None = None,
    ids: Sequence[str] | None = None,
) -> Dataset:
    """Episodes one after the other in arrays over all steps, without a copy where that can be.

    float32 or uint8 observations [steps, numbers]; float32 actions [steps, numbers], or int32 [steps]
    where an action is one of so many. Other types, orders and strides are converted. Where an episode
    ends: `lengths`, or `offsets`, or steps at which `terminals` or `timeouts` is set.
    """
    seen = _numbers(observations, "observations")
    if seen.ndim != 2:
        raise ValueError(f"observations must be [steps, numbers], not {list(seen.shape)}")
    done = _numbers(actions, "actions")
    if len(done) != len(seen):
        raise ValueError(f"there are {len(seen)} observations but {len(done)} actions")
    discrete = np.issubdtype(done.dtype, np.integer) and done.ndim == 1
    if done.ndim == 1 and not discrete:
        done = done[:, None]
    if done.ndim != 2 and not discrete:
        raise ValueError(f"actions must be [steps, numbers], or [steps] of whole numbers, not {list(done.shape)}")
    flags = [None if f is None else _flags(f, len(seen)) for f in (terminals, timeouts)]
    where = _offsets(len(seen), lengths, offsets, flags)
    episodes = len(where) - 1
    names = [str(i) for i in range(episodes)] if ids is None else [str(i) for i in ids]
    count = 0
    if discrete:
        if done.min(initial=0) < 0:
            raise ValueError(f"actions that are one of so many count from 0; {done.min()} is below")
        count = int(done.max(initial=0)) + 1
    is_bytes = seen.dtype == np.uint8
    return Dataset(
        _core.from_arrays(
            None if is_bytes else _as(seen, np.float32),
            _as(seen, np.uint8) if is_bytes else None,
            None if discrete else _as(done, np.float32),
            _as(done, np.int32) if discrete else None,
            count,
            where,
            None if rewards is None else _as(_numbers(rewards, "rewards"), np.float32),
            flags[0],
            flags[1],
            None if labels is None else _as(_numbers(labels, "labels"), np.int32),
            names,
        )
    )


def joined(one: Dataset, other: Dataset) -> Dataset:
    """The episodes of both, without what methods do not look at."""
    return from_arrays(
        np.concatenate([one.observations, other.observations]),
        np.concatenate([one.actions, other.actions]),
        lengths=np.concatenate([one.lengths, other.lengths]),
    )


def _as(array: Array, dtype: Any) -> Array:
    return np.ascontiguousarray(array, dtype=dtype)


def _numbers(values: npt.ArrayLike, what: str) -> Array:
    """An array of real numbers, from numpy, torch or lists."""
    if hasattr(values, "detach"):  # a torch tensor
        values = values.detach().cpu().numpy()
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(f"{what} are ragged: rows must have the same number of numbers") from None
    if array.dtype == object:
        raise ValueError(f"{what} are ragged or not numbers: rows must have the same number of numbers")
    if not (np.issubdtype(array.dtype, np.number) or array.dtype == bool) or np.iscomplexobj(array):
        raise ValueError(f"{what} must be real numbers, not {array.dtype}")
    return array


def _flags(values: npt.ArrayLike, steps: int) -> Array:
    array = _numbers(values, "terminals and timeouts").reshape(-1)
    if len(array) != steps:
        raise ValueError(f"terminals and timeouts must be [{steps}], not [{len(array)}]")
    return _as(array != 0, np.uint8)


def _offsets(steps: int, lengths: Any, offsets: Any, flags: Sequence[Array | None]) -> Array:
    if (lengths is None) == (offsets is None):
        ends = np.zeros(steps, bool)
        for flag in flags:
            if flag is not None:
                ends |= flag != 0
        if lengths is not None or not any(flag is not None for flag in flags):
            raise ValueError("say where episodes end by one of lengths, offsets, terminals and timeouts")
        stops = np.flatnonzero(ends) + 1
        if steps and (not len(stops) or stops[-1] != steps):
            stops = np.append(stops, steps)
        return _as(np.concatenate([[0], stops]), np.int64)
    where = np.concatenate([[0], np.cumsum(lengths)]) if offsets is None else np.asarray(offsets)
    where = _as(where, np.int64)
    if len(where) < 2 or where[0] != 0 or where[-1] != steps or (np.diff(where) < 1).any():
        raise ValueError(f"episodes must have steps, one after the other, from 0 to {steps}")
    return where


def _episode(item: Any, number: int) -> tuple[Array, Array, Any]:
    """Observations, actions and rewards of one episode, however it is held."""
    if isinstance(item, dict):
        parts = (item.get("observations"), item.get("actions"), item.get("rewards"))
    elif hasattr(item, "observations") and hasattr(item, "actions"):
        parts = (item.observations, item.actions, getattr(item, "rewards", None))
    elif isinstance(item, (tuple, list)) and len(item) in (2, 3):
        parts = (item[0], item[1], item[2] if len(item) == 3 else None)
    else:
        raise ValueError(
            f"episode {number} is a {type(item).__name__}; give (observations, actions), a dict with these "
            "keys, or an object with these attributes"
        )
    if parts[0] is None or parts[1] is None:
        raise ValueError(f"episode {number} has no observations or no actions")
    seen = _numbers(parts[0], f"the observations of episode {number}")
    done = _numbers(parts[1], f"the actions of episode {number}")
    if seen.ndim == 1:
        seen = seen[:, None]
    if len(seen) == len(done) + 1:  # Minari keeps the observation after the last action
        seen = seen[:-1]
    if done.ndim == 2 and done.shape[1] == 1 and np.issubdtype(done.dtype, np.integer):
        done = done[:, 0]
    if len(seen) != len(done) or not len(seen):
        raise ValueError(f"episode {number} has {len(seen)} observations and {len(done)} actions")
    return seen, done, parts[2]


def _from_memory(source: Any) -> Dataset:
    if hasattr(source, "iterate_episodes"):  # a Minari dataset
        source = list(source.iterate_episodes())
    elif hasattr(source, "episodes") and not isinstance(source, (list, tuple)):  # a d3rlpy buffer
        source = list(source.episodes)
    if isinstance(source, np.ndarray) or hasattr(source, "__array__"):
        return _one_step_episodes(source)
    items = list(source)
    if not items:
        raise ValueError("there are no episodes")
    episodes = [_episode(item, i) for i, item in enumerate(items)]
    for i, (seen, done, _) in enumerate(episodes):
        if seen.shape[1:] != episodes[0][0].shape[1:] or done.shape[1:] != episodes[0][1].shape[1:]:
            raise ValueError(f"episode {i} has other numbers per observation or action than the first")
    with_rewards = all(rewards is not None for _, _, rewards in episodes)
    return from_arrays(
        np.concatenate([seen.reshape(len(seen), -1) for seen, _, _ in episodes]),
        np.concatenate([done for _, done, _ in episodes]),
        lengths=[len(seen) for seen, _, _ in episodes],
        rewards=np.concatenate([np.asarray(r, np.float32).reshape(-1) for _, _, r in episodes])
        if with_rewards
        else None,
    )


def is_table(X: Any) -> bool:
    """Whether X is an array, or nested lists of numbers, instead of episodes."""
    if isinstance(X, (Dataset, str, os.PathLike)):
        return False
    if hasattr(X, "__array__") or hasattr(X, "tocsr"):
        return True
    row = X[0] if isinstance(X, (list, tuple)) and len(X) else None
    if isinstance(row, (str, os.PathLike)):  # files
        return False
    if isinstance(row, (list, tuple)):
        return bool(row) and np.isscalar(row[0])
    return row is not None and np.isscalar(row)


def _one_step_episodes(rows: Any) -> Dataset:
    """[episodes, numbers]: an episode is one step; its last number is the action."""
    array = _numbers(rows, "X")
    if array.ndim != 2:
        raise ValueError(f"X must be episodes, or [episodes, numbers], not {list(array.shape)}")
    if array.shape[0] == 0 or array.shape[1] < 2:
        raise ValueError(f"X is {list(array.shape)}: one-step episodes need an observation and an action")
    array = array.astype(np.float32)
    return from_arrays(array[:, :-1], array[:, -1:], lengths=np.ones(len(array), np.int64))
