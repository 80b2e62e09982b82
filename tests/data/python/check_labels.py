"""Checks labels that Kindred writes, and datasets it splits, with the libraries their users have.

    build/venv/bin/python tests/data/python/check_labels.py build/release/kindred ../shared/data hdf5 arrow parquet
"""

import csv
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import warnings

try:
    import gymnasium as gym
    import h5py
    import minari
    import numpy as np
    import PIL  # minari's storage needs it
    from minari.data_collector import EpisodeBuffer
    from minari.dataset.minari_storage import MinariStorage
except ImportError as missing:
    print(f"*** NOT TESTED: {missing}; 'scripts/setup test' installs what is needed")
    sys.exit(77)

program = sys.argv[1]
shared = pathlib.Path(sys.argv[2])
LENGTHS = [5, 3, 8, 4, 6, 7, 3]
HIGH = [0, 1, 1, 0, 1, 0, 1]  # which episodes earn much


def kindred(*arguments):
    done = subprocess.run([program, *map(str, arguments), "--json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def refused(*arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done
    return done.stderr


def cluster(data, run, *more, method="return-kmeans"):
    kindred("cluster", data, "--method", method, "-k", 2, "-o", run, *more)
    with open(run / "labels.csv") as file:
        return {row["episode"]: int(row["label"]) for row in csv.DictReader(file)}


def hashes(path):
    files = [path] if path.is_file() else sorted(f for f in path.rglob("*") if f.is_file())
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def everything(path):
    """All values and attributes of an HDF5 file by name."""
    found = {}
    with h5py.File(path, "r") as file:
        def visit(name, item):
            found[name] = item[()] if isinstance(item, h5py.Dataset) else None
            for key, value in item.attrs.items():
                found[f"{name}@{key}"] = value
        visit("/", file)
        file.visititems(visit)
    return found


def same(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and np.array_equal(a, b)


def expect_added(before, after, names):
    """`after` is `before` with these names, and nothing else differs."""
    marks = {name for name in after if name.startswith("/@found by kindred")}
    assert set(after) - set(before) - marks == set(names), set(after) ^ set(before)
    for name, value in before.items():
        assert same(value, after[name]), name


# ---------------------------------------------------------------------------------------- Minari


def make_minari(folder, data_format):
    """Minari reads infos of tables back only where each is a row of numbers."""
    box = gym.spaces.Box(-1, 1, (3,), np.float64)
    space = gym.spaces.Dict(position=box, goal=gym.spaces.Tuple((box, gym.spaces.Discrete(4))))
    (folder / "data").mkdir(parents=True)
    storage = MinariStorage.new(folder / "data", space, gym.spaces.Discrete(3), data_format=data_format)
    for i, (length, high) in enumerate(zip(LENGTHS, HIGH)):
        rows = np.random.default_rng(i)
        infos = {"energy": rows.random(length), "name": {"deep": ["left", "right"] * length}}
        storage.update_episodes([EpisodeBuffer(
            observations={"position": rows.random((length + 1, 3)),
                          "goal": (rows.random((length + 1, 3)), rows.integers(0, 4, length + 1))},
            actions=rows.integers(0, 3, length), rewards=list(rows.random(length) + 900 * high / length),
            terminations=[False] * (length - 1) + [True], truncations=[False] * length,
            infos=infos if data_format == "hdf5" else {"energy": rows.random((length + 1, 2))},
            seed=40 + i, options={"start": i})])
    storage.update_metadata({"dataset_id": f"toy/{folder.name}", "minari_version": "0.5.0",
                             "author": {"Somebody"}})


def minari_content(dataset):
    """Every episode with its metadata, but for its number."""
    count = range(dataset.total_episodes)
    metadata = [dict(m) for m in dataset.storage.get_episode_metadata(count)]
    episodes = list(dataset.storage.get_episodes(count))
    for i, (episode, its) in enumerate(zip(episodes, metadata)):
        assert episode.pop("id") == its.pop("id") == i
    return list(zip(episodes, metadata))


def expect_same_attributes(one, other):
    with h5py.File(one) as ours, h5py.File(other) as theirs:
        for group in theirs:
            assert type(ours[group].attrs["policy_id"]) is type(theirs[group].attrs["policy_id"])
            assert same(dict(ours[group].attrs), dict(theirs[group].attrs))


def check_minari(folder, data_format):
    data = folder / "toy" / "walks-v0"
    make_minari(data, data_format)
    by_minari = folder / "by-minari"
    shutil.copytree(data, by_minari)
    labels = cluster(data, folder / "run")
    found = [labels[f"episode_{i}"] for i in range(len(LENGTHS))]
    assert [label == found[1] for label in found] == [bool(high) for high in HIGH]
    before, content = hashes(data), minari_content(minari.MinariDataset(data / "data"))

    kindred("label", folder / "run")
    dataset = minari.MinariDataset(data / "data")
    labelled = minari_content(dataset)
    for (episode, its), (old, old_its), label in zip(labelled, content, found):
        assert its.pop("policy_id") == label
        assert same(episode, old) and same(its, old_its)
    minari.MinariDataset(by_minari / "data").storage.update_episode_metadata(
        [{"policy_id": label} for label in found])
    if data_format == "hdf5":
        expect_same_attributes(data / "data/main_data.hdf5", by_minari / "data/main_data.hdf5")
    else:
        assert same(minari_content(minari.MinariDataset(by_minari / "data")),
                    minari_content(minari.MinariDataset(data / "data")))
        assert (data.parent / "walks-v0.policy.csv").read_text() == (folder / "run/labels.csv").read_text()
        assert kindred("info", data)["labels"] is None, "what was found is not the truth"
    chosen = dataset.filter_episodes(lambda e: labels[f"episode_{e.id}"] == found[1])
    assert chosen.total_episodes == sum(HIGH)

    kindred("label", folder / "run", "--undo")
    assert hashes(data) == before

    assert sorted(data.parent.iterdir()) == [data], "nothing is left beside it"

    kindred("label", folder / "run", "--into", data / ("data/main_data.hdf5" if data_format == "hdf5" else ""))
    kindred("label", folder / "run", "--key", "other")
    kindred("label", folder / "run", "--undo")
    assert hashes(data) == before

    kindred("split", folder / "run", "-o", folder / "parts")
    os.environ["MINARI_DATASETS_PATH"] = str(folder / "parts")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert set(minari.list_local_datasets()) == {"policy_0-v0", "policy_1-v0"}
        for label in (0, 1):
            part = minari.load_dataset(f"policy_{label}-v0")
            wanted = [c for c, its in zip(content, found) if its == label]
            assert part.total_episodes == len(wanted)
            assert part.total_steps == sum(len(e["rewards"]) for e, _ in wanted)
            assert same(minari_content(part), wanted)
            assert part.observation_space == dataset.observation_space
            assert part.storage.metadata["author"] == {"Somebody"}
            assert len(list(part.iterate_episodes())) == len(wanted)
    kindred("filter", folder / "run", "--clusters", "0,1", "-o", folder / "all-v3")
    assert same(minari_content(minari.MinariDataset(folder / "all-v3/data")), content)
    assert hashes(data) == before


# ------------------------------------------------------------------------------------- robomimic


def make_robomimic(path, **how):
    with h5py.File(path, "w", **how) as file:
        data = file.create_group("data")
        data.attrs["env_args"] = json.dumps({"env_name": "Lift", "type": 1, "env_kwargs": {}})
        data.attrs["total"] = sum(LENGTHS)
        for i, (length, high) in enumerate(zip(LENGTHS, HIGH)):
            rows = np.random.default_rng(i)
            demo = data.create_group(f"demo_{i + 5}")  # 5 to 11: numbers sort otherwise than names
            demo.attrs["num_samples"] = length
            demo.attrs["model_file"] = "<mujoco>…</mujoco>"
            demo["actions"] = rows.random((length, 2))
            demo["rewards"] = rows.random(length) + 900 * high / length
            demo["dones"] = np.eye(1, length, length - 1, dtype=np.int64)[0]
            demo["states"] = rows.random((length, 9))
            for group in ("obs", "next_obs"):
                demo[f"{group}/eef"] = rows.random((length, 3))
                demo.create_dataset(f"{group}/image", compression="gzip",
                                    data=rows.integers(0, 255, (length, 4, 4, 3), dtype=np.uint8))
        names = [f"demo_{i + 5}" for i in range(len(LENGTHS))]
        file["mask/train"] = np.array(names[:5], dtype="S")
        file["mask/valid"] = np.array(names[5:], dtype="S")


def mask(file, name):
    """As robomimic reads a filter key."""
    return [elem.decode("utf-8") for elem in np.array(file[f"mask/{name}"][:])]


def check_robomimic(folder, **how):
    folder.mkdir()
    data = folder / "demos.hdf5"
    make_robomimic(data, **how)
    labels = cluster(data, folder / "run")
    demos = {label: [d for d, its in labels.items() if its == label] for label in (0, 1)}
    before, content = hashes(data), everything(data)

    kindred("label", folder / "run")
    expect_added(content, everything(data), ["mask/policy_0", "mask/policy_1"])
    with h5py.File(data) as file:
        assert {label: mask(file, f"policy_{label}") for label in (0, 1)} == demos
        assert file["mask/policy_0"].dtype.kind == file["mask/train"].dtype.kind == "S"
    kindred("label", folder / "run", "--undo")
    assert hashes(data) == before

    kindred("split", folder / "run", "-o", folder / "parts")
    for label in (0, 1):
        with h5py.File(folder / f"parts/policy_{label}.hdf5") as part:
            assert sorted(part["data"], key=lambda name: int(name[5:])) == demos[label]
            steps = sum(part["data"][demo].attrs["num_samples"] for demo in part["data"])
            assert part["data"].attrs["total"] == steps
            assert part["data"].attrs["env_args"] == content["data@env_args"]
            assert mask(part, "train") == [d for d in demos[label] if int(d[5:]) < 10]
        for name, value in everything(folder / f"parts/policy_{label}.hdf5").items():
            if name.startswith("data/"):
                assert same(value, content[name]), name
    assert hashes(data) == before


# ------------------------------------------------------------------------------------------ D4RL


def get_dataset(path):
    """As d4rl reads a file."""
    values = {}
    with h5py.File(path, "r") as file:
        names = []
        file.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
        for name in names:
            try:
                values[name] = file[name][:]
            except ValueError:
                values[name] = file[name][()]
    return values


def make_d4rl(path):
    rows = np.random.default_rng(1)
    steps = sum(LENGTHS)
    ends = np.cumsum(LENGTHS) - 1
    with h5py.File(path, "w") as file:
        file.attrs["note"] = "kept"
        for name, width in (("observations", 4), ("actions", 2), ("next_observations", 4)):
            file.create_dataset(name, data=rows.random((steps, width), dtype=np.float32),
                                compression="gzip")
        file["rewards"] = np.repeat(np.array(HIGH) * 100, LENGTHS) + rows.random(steps)
        file["terminals"] = np.zeros(steps, bool)
        file["timeouts"] = np.isin(np.arange(steps), ends)
        file["infos/qpos"] = rows.random((steps, 5))
        file["infos/action_log_probs"] = rows.random(steps)
        file["metadata/algorithm"] = "SAC"
        file["metadata/policy/fc0/weight"] = rows.random((8, 4))


def check_d4rl(folder, data, key, *more, **method):
    """`key` is a name the file has no labels under."""
    run = folder / f"{data.stem}-run"
    labels = cluster(data, run, *more, **method)
    assert set(labels.values()) == {0, 1}
    before, content, values = hashes(data), everything(data), get_dataset(data)
    name = f"infos/{key}"
    keys = [] if key == "policy_id" else ["--key", key]
    told = kindred("label", run, *keys)
    after = get_dataset(data)
    parents = [] if "infos" in content else ["infos"]
    expect_added(content, everything(data), [name, *parents])
    ends = np.flatnonzero(values["terminals"].astype(bool) | values["timeouts"].astype(bool))
    episode = np.searchsorted(ends, np.arange(len(values["rewards"])))
    wanted = np.array([labels.get(str(i), -1) for i in range(episode.max() + 1)], np.int32)[episode]
    assert same(after.pop(name), wanted)
    assert same(after, values)
    assert told["left_out"] == episode.max() + 1 - len(labels)
    sidecar = data.with_name(f"{data.stem}.{key.removesuffix('_id')}.csv")
    assert sidecar.read_text() == (run / "labels.csv").read_text()
    kindred("label", run, "--undo")
    assert hashes(data) == before and not sidecar.exists()
    assert not list(data.parent.glob("*kindred-undo*"))

    parts = folder / f"{data.stem}-parts"
    for part in kindred("split", run, "-o", parts)["parts"]:
        rows = wanted == part["clusters"][0]
        for column, found in get_dataset(part["path"]).items():
            per_step = len(np.shape(values[column])) and len(values[column]) == len(rows)
            assert same(found, values[column][rows] if per_step else values[column]), column
        assert part["steps"] == rows.sum()
    kept = folder / f"{data.stem}-kept.hdf5"
    kindred("filter", run, "--clusters", "1", "-o", kept)
    assert same(everything(kept), everything(parts / f"policy_1{data.suffix}"))
    assert hashes(data) == before


# -------------------------------------------------------------------------------------- segments


def segments(data, found, ids):
    """A folder of segments in which policy 1 takes over after two steps of each episode, but the first."""
    kindred("segment", data, "-k", 1, "-o", found)
    rows = ["episode,start,end,policy,posterior,earliest,latest"]
    for i, (name, length) in enumerate(zip(ids, LENGTHS)):
        cut = 2 if i else length
        rows.append(f"{name},0,{cut},0,1,0,0")
        rows += [f"{name},{cut},{length},1,1,{cut},{cut}"] if i else []
    (found / "segments.csv").write_text("\n".join(rows) + "\n")
    record = json.loads((found / "segments.json").read_text())
    record["result"]["k"] = 2
    (found / "segments.json").write_text(json.dumps(record))
    return [np.repeat(np.array([0, 1], np.int32), [2, n - 2] if i else [n, 0]) for i, n in enumerate(LENGTHS)]


def check_minari_segments(folder, data_format):
    data = folder / "toy" / "turns-v0"
    make_minari(data, data_format)
    actors = segments(data, folder / "found", [f"episode_{i}" for i in range(len(LENGTHS))])
    before = hashes(data)
    content = minari_content(minari.MinariDataset(data / "data"))
    kindred("label", folder / "found")
    labelled = minari_content(minari.MinariDataset(data / "data"))
    for (episode, _), (old, _), wanted in zip(labelled, content, actors):
        if data_format == "hdf5":
            assert same(episode["infos"].pop("policy_id"), wanted)
        assert same(episode, old)
    if data_format != "hdf5":
        assert "episode_1,2,3,1\n" in (data.parent / "turns-v0.policy.csv").read_text()
    kindred("label", folder / "found", "--undo")
    assert hashes(data) == before and sorted(data.parent.iterdir()) == [data]

    part = folder / "toy" / "second-v0"
    kindred("filter", folder / "found", "--policy", 1, "--min-length", 2, "-o", part)
    assert hashes(data) == before
    os.environ["MINARI_DATASETS_PATH"] = str(part.parent)
    dataset = minari.load_dataset("second-v0")
    kept = [i for i, length in enumerate(LENGTHS) if i and length >= 4]
    assert dataset.total_episodes == len(kept) and dataset.total_steps == sum(LENGTHS[i] - 2 for i in kept)
    for episode, i in zip(dataset.iterate_episodes(), kept):
        old = content[i][0]
        assert same(episode.actions, old["actions"][2:]) and same(episode.rewards, old["rewards"][2:])
        assert same(episode.observations["position"], old["observations"]["position"][2:])
        assert len(episode.observations["position"]) == len(episode) + 1
        assert episode.terminations[-1] and not episode.truncations.any()
        assert same(episode.infos["energy"], old["infos"]["energy"][2:])
    for its, i in zip(dataset.storage.get_episode_metadata(range(len(kept))), kept):
        cut_from = its["cut_from"].decode() if data_format == "hdf5" else its["cut_from"]
        assert (cut_from, its["first_step"], its["total_steps"]) == (f"episode_{i}", 2, LENGTHS[i] - 2)
        assert its["seed"] == content[i][1]["seed"]
    first = folder / "toy" / "first-v0"
    kindred("filter", folder / "found", "--policy", 0, "-o", first)
    for i, episode in enumerate(minari.load_dataset("first-v0").iterate_episodes()):
        length, old = 2 if i else LENGTHS[0], content[i][0]
        assert len(episode) == length
        assert same(episode.observations["position"], old["observations"]["position"][:length + 1]), "and what came next"
        assert same(episode.observations["goal"][1], old["observations"]["goal"][1][:length + 1])
        assert same(episode.actions, old["actions"][:length]) and same(episode.rewards, old["rewards"][:length])
        assert episode.truncations[-1] == (i > 0) and not episode.truncations[:-1].any()


def check_robomimic_segments(folder):
    folder.mkdir()
    data = folder / "demos.hdf5"
    make_robomimic(data)
    names = [f"demo_{i + 5}" for i in range(len(LENGTHS))]
    actors = segments(data, folder / "found", names)
    before, content = hashes(data), everything(data)
    kindred("label", folder / "found")
    expect_added(content, everything(data), [f"data/{name}/policy_id" for name in names])
    with h5py.File(data) as file:
        for name, wanted in zip(names, actors):
            assert same(file[f"data/{name}/policy_id"][()], wanted)
    kindred("label", folder / "found", "--undo")
    assert hashes(data) == before

    kindred("filter", folder / "found", "--policy", 1, "--min-length", 2, "-o", folder / "second.hdf5")
    kept = [(name, length) for name, length in zip(names[1:], LENGTHS[1:]) if length >= 4]
    with h5py.File(folder / "second.hdf5") as part:
        demos = sorted(part["data"], key=lambda name: int(name[5:]))  # as robomimic orders them
        assert demos == [f"demo_{i}" for i in range(len(kept))]
        assert part["data"].attrs["total"] == sum(length - 2 for _, length in kept)
        for demo, (name, length) in zip(demos, kept):
            attributes = part["data"][demo].attrs
            assert attributes["num_samples"] == length - 2
            assert attributes["model_file"] == "<mujoco>…</mujoco>"
            for column in ("actions", "states", "rewards", "dones", "obs/eef", "next_obs/image"):
                assert same(part[f"data/{demo}/{column}"][()], content[f"data/{name}/{column}"][2:]), column
        old = [name for name, _ in kept]
        assert mask(part, "train") == [d for d, name in zip(demos, old) if name in names[:5]]


with tempfile.TemporaryDirectory() as temporary:
    folder = pathlib.Path(temporary)
    for data_format in sys.argv[3:]:
        check_minari(folder / data_format, data_format)
    check_robomimic(folder / "plain")
    check_robomimic(folder / "newer", libver=("v110", "v110"))
    for data_format in sys.argv[3:]:
        check_minari_segments(folder / f"{data_format}-segments", data_format)
    check_robomimic_segments(folder / "demo-segments")

    make_d4rl(folder / "walks.hdf5")
    check_d4rl(folder, folder / "walks.hdf5", "policy_id")
    shutil.copy(folder / "walks.hdf5", folder / "long.hdf5")
    check_d4rl(folder, folder / "long.hdf5", "policy_id", "--min-length", 5)

    grid = folder / "diagonal.hdf5"
    kindred("generate", "diagonal", "--per-expert", 20, "--format", "d4rl", "-o", grid)
    check_d4rl(folder, grid, "found_id", "--policy", "tabular", method="pg-kmeans")
    assert "--replace" in refused("label", folder / "diagonal-run"), "the truth is not overwritten"

    hopper = shared / "mujoco/hopper-medium-expert.hdf5"
    if hopper.exists():
        shutil.copyfile(hopper, folder / "hopper.hdf5")
        check_d4rl(folder, folder / "hopper.hdf5", "policy_id")
    else:
        print(f"*** NOT TESTED: no dataset {hopper}")
print("Labels and parts are read as meant: Minari", minari.__version__, "and h5py", h5py.__version__)
