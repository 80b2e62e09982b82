"""Faults seeded one at a time into good files: kindred info names each, where it is, and nothing else.

    build/venv/bin/python tests/data/python/check_doctor.py build/release/kindred FILE.hdf5 ...

Files are D4RL's, at least 30 episodes long; a folder stands for the .hdf5 files in it.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"*** NOT TESTED: {missing}; 'scripts/setup test' installs what is needed")
    sys.exit(77)


class Data:
    """The columns of a file, each fault's to spoil."""

    def __init__(self, path):
        with h5py.File(path) as file:
            self.columns = {name: file[name][:] for name in ["observations", "actions", "rewards"]}
            self.flags = {name: file[name][:].astype(bool) for name in ["terminals", "timeouts"]}
        self.labels = None

    def copy(self):
        other = Data.__new__(Data)
        other.columns = {name: values.copy() for name, values in self.columns.items()}
        other.flags = {name: values.copy() for name, values in self.flags.items()}
        other.labels = None
        return other

    @property
    def ends(self):
        return np.flatnonzero(self.flags["terminals"] | self.flags["timeouts"])

    def episode(self, number):
        """Its rows."""
        first = 0 if number == 0 else self.ends[number - 1] + 1
        return np.arange(first, self.ends[number] + 1)

    def long_episode(self, after=0):
        """The number of one with at least a hundred steps."""
        return next(i for i in range(after, len(self.ends)) if len(self.episode(i)) >= 100)

    def take(self, rows):
        for part in self.columns, self.flags:
            for name in part:
                part[name] = part[name][rows]

    def append(self, column):
        seen = self.columns["observations"]
        self.columns["observations"] = np.column_stack([seen, column.astype(seen.dtype)])

    def write(self, path):
        with h5py.File(path, "w") as file:
            for part in self.columns, self.flags:
                for name, values in part.items():
                    file[name] = values
            if self.labels is not None:
                file["infos/policy_id"] = self.labels


# Each spoils the data and returns what the evidence must say.


def nan_in_observation(data):
    row = data.episode(7)[20]
    data.columns["observations"][row, 2] = np.nan
    return "not-finite", f"nan in observation 2 at step 20 (row {row}) of episode 7"


def infinite_action(data):
    row = data.episode(3)[5]
    data.columns["actions"][row, 1] = np.inf
    return "not-finite", f"inf in action 1 at step 5 (row {row}) of episode 3"


def nan_in_reward(data):
    row = data.episode(9)[0]
    data.columns["rewards"][row] = np.nan
    return "not-finite", f"nan in the reward at step 0 (row {row}) of episode 9"


def action_in_same_observation(data):
    dim = data.columns["observations"].shape[1]
    data.append(data.columns["actions"][:, 0])
    return "action-is-observation", f"the observation of the same step: action 0 is observation {dim}"


def action_in_next_observation(data):
    dim = data.columns["observations"].shape[1]
    before = np.roll(data.columns["actions"][:, 1], 1)
    before[np.append(0, data.ends[:-1] + 1)] = 0
    data.append(before)
    return "action-is-observation", f"the next observation: action 1 is observation {dim}"


def actions_are_next_observations(data):
    seen, done = data.columns["observations"], data.columns["actions"]
    done[:-1] = seen[1:, : done.shape[1]]
    return "action-is-observation", "the next observation: action 0 is observation 0"


def actions_are_changes(data):
    seen, done = data.columns["observations"], data.columns["actions"]
    done[:-1] = np.diff(seen, axis=0)[:, : done.shape[1]]
    return "action-is-change", "action 0 is observation 0"


def angle(data):
    turned = np.cumsum(0.02 + 0.01 * np.sin(np.arange(len(data.columns["rewards"])) / 37))
    return np.mod(turned + np.pi, 2 * np.pi) - np.pi


def angle_in_radians(data):
    dim = data.columns["observations"].shape[1]
    data.append(angle(data))
    return "angle-wraps", f"observation {dim} leaps by 2π"


def angle_in_degrees(data):
    dim = data.columns["observations"].shape[1]
    data.append(np.degrees(angle(data)))
    return "angle-wraps", f"observation {dim} leaps by 360"


def angle_from_minus_one_to_one(data):
    dim = data.columns["observations"].shape[1]
    data.append(angle(data) / np.pi)
    return "angle-wraps", f"observation {dim} leaps by 2 "


def huge_column(data):
    data.columns["observations"][:, 1] *= 1e6
    return "scales-differ", "observation 1 varies by"


def timestamp(data):
    dim = data.columns["observations"].shape[1]
    data.append(1.6e9 + 0.005 * np.arange(len(data.columns["rewards"])))
    return "precision-lost", f"observation {dim} is near 1.6e+09"


def constant_observation(data):
    dim = data.columns["observations"].shape[1]
    data.append(np.full(len(data.columns["rewards"]), 0.5))
    return "constant-column", f"observation {dim} (0.5)"


def constant_action(data):
    data.columns["actions"][:, 1] = 0.25
    return "constant-column", "action 1 (0.25)"


def copied_column(data):
    seen = data.columns["observations"]
    noise = 1e-3 * seen[:, 3].std() * np.random.default_rng(0).standard_normal(len(seen))
    data.append(-2.5 * (seen[:, 3] + noise))
    return "copied-column", f"observation {seen.shape[1]} of observation 3"


def tiny_episode(data):
    rows = data.episode(4)
    data.take(np.setdiff1d(np.arange(len(data.columns["rewards"])), rows[:-2]))
    return "tiny-episode", "1 episode has no more than"


def repeated_episode(data):
    number = data.long_episode()
    rows = len(data.columns["rewards"])
    data.take(np.append(np.arange(rows), data.episode(number)))
    return "repeated-episode", f"episode {len(data.ends) - 1} of episode {number}"


def nearly_repeated_episode(data):
    number = data.long_episode()
    rows = len(data.columns["rewards"])
    data.take(np.append(np.arange(rows), data.episode(number)))
    new = slice(rows, None)
    random = np.random.default_rng(0)
    for name in "observations", "actions":
        values = data.columns[name]
        values[new] += 1e-3 * values.std(0) * random.standard_normal(values[new].shape).astype(values.dtype)
    return "nearly-repeated-episode", f"episode {len(data.ends) - 1} of episode {number}"


def cut_episode(data):
    number = data.long_episode(5)
    row = data.episode(number)[60]
    data.flags["timeouts"][row] = True
    return "cut-episode", f"episode {number} in episode {number + 1} (row {row + 1})"


def all_cut(data):
    for number in reversed(range(len(data.ends))):
        data.flags["timeouts"][data.episode(number)[99:-50:100]] = True
    return "cut-episode", "episodes go on in the next: episode 0 in episode 1 (row 100)"


def terminal_that_ends_nothing(data):
    number = data.long_episode(5)
    row = data.episode(number)[60]
    data.flags["terminals"][row] = True
    return "terminal-ends-nothing", f"episode {number} in episode {number + 1} (row {row + 1})"


def glued_episodes(data):
    number = data.long_episode(5)
    rows = data.episode(number)
    for flag in data.flags.values():
        flag[rows[-1]] = False
    return "glued-episodes", f"episode {number} before its step {len(rows)} (row {rows[-1] + 1})"


def unfinished_episode(data):
    number = len(data.ends) - 1
    rows = data.episode(number)
    data.take(np.arange(rows[len(rows) // 2]))
    return "unfinished-episode", f"episode {number} with"


def constant_rewards(data):
    data.columns["rewards"][:] = 1
    return "constant-rewards", "Every reward is 1"


def labels_by_session(data):
    """Episodes as good as shuffled, labelled by the half of the file they are in."""
    random = np.random.default_rng(0)
    episodes = [data.episode(i) for i in random.permutation(len(data.ends))]
    data.take(np.concatenate(episodes))
    middle = data.ends[len(data.ends) // 2]
    data.labels = (np.arange(len(data.columns["rewards"])) > middle).astype(np.int32)
    return "order-explains-labels", "The true labels come in 2 blocks of the file"


FAULTS = [
    nan_in_observation, infinite_action, nan_in_reward, action_in_same_observation, action_in_next_observation,
    actions_are_next_observations, actions_are_changes, angle_in_radians, angle_in_degrees,
    angle_from_minus_one_to_one, huge_column, timestamp, constant_observation, constant_action, copied_column,
    tiny_episode, repeated_episode, nearly_repeated_episode, cut_episode, all_cut, terminal_that_ends_nothing,
    glued_episodes, unfinished_episode, constant_rewards, labels_by_session,
]  # fmt: skip


def examine(kindred, path):
    ran = subprocess.run([kindred, "info", path, "--json"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout.splitlines()[-1])["doctor"]["found"]


def main():
    kindred, *places = sys.argv[1:]
    files = [file for place in map(pathlib.Path, places) for file in (sorted(place.glob("*.hdf5")) if place.is_dir() else [place])]
    files = [file for file in files if file.exists()]
    if not files:
        print("*** NOT TESTED: there are no files to spoil")
        sys.exit(77)
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            data = Data(file)
            found = examine(kindred, file)
            print(f"{file.name}: {len(found)} reported as it is")
            missed += len(found) > 0
            for fault in FAULTS:
                spoilt = data.copy()
                key, words = fault(spoilt)
                path = pathlib.Path(folder) / "spoilt.hdf5"
                spoilt.write(path)
                found = examine(kindred, path)
                right = any(one["key"] == key and words in one["evidence"] for one in found)
                others = [one["key"] for one in found if one["key"] != key]
                missed += not right or bool(others)
                print(f"  {fault.__name__:32} {key:24} {'found' if right else 'MISSED':7} others: {', '.join(others) or 'none'}", flush=True)
                for one in found:
                    if not right or one["key"] != key:
                        print("      ", one["key"], one["evidence"])
    sys.exit(missed > 0)


main()
