"""Every command of docs/data.md that is marked so, in order, on files as it describes them."""
import json
import os
import re
import subprocess

import h5py
import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from conftest import ROOT, controllers

import kindred

OPERATORS = ["ann", "tim"]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """One set of episodes under every layout; those of the padded file are of different lengths."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    episodes = controllers()
    who = [OPERATORS[i % 2] for i in range(len(episodes))]
    flat = {
        "state": np.concatenate([seen for seen, _ in episodes])[:, :2],
        "goal": np.concatenate([seen for seen, _ in episodes])[:, 2].astype(np.float64),
        "u": np.concatenate([done for _, done in episodes]),
        "run": np.repeat(100 + np.arange(len(episodes)), 40),
        "done": np.arange(1, 40 * len(episodes) + 1) % 40 == 0,
    }
    _d4rl(episodes, flat)
    _minari(tmp_path / "minari" / "reach" / "goal-v0" / "data", episodes, who)
    _minari_tables(tmp_path / "minari" / "reach" / "tables-v0" / "data", episodes, who)
    _robomimic(episodes)
    np.savez("flat.npz", **flat)
    with h5py.File("flat.hdf5", "w") as file:
        for name, values in flat.items():
            file[name] = values
        file["operator"] = np.repeat(who, 40).tolist()
    _table(flat, np.repeat(who, 40))
    _padded(episodes)
    with h5py.File("groups.hdf5", "w") as file:
        for i, (seen, done) in enumerate(episodes):
            file[f"takes/{i}/sensors/arm"] = seen[:, :2]
            file[f"takes/{i}/sensors/eye"] = seen[:, 2]
            file[f"takes/{i}/motors"] = done
            file[f"takes/{i}"].attrs["operator"] = who[i]
    for part in range(2):
        own = episodes[part * 12 : part * 12 + 12]
        np.savez(
            f"part-{part}.npz",
            observations=np.concatenate([seen for seen, _ in own]),
            actions=np.concatenate([done for _, done in own]),
            offsets=np.arange(0, 481, 40),
        )
    with open("some.csv", "w", encoding="utf-8") as file:
        file.write("run,operator\n" + "".join(f"{i},{who[i]}\n" for i in range(10)))
    return tmp_path


def _d4rl(episodes, flat):
    with h5py.File("d4rl.hdf5", "w") as file:
        file["observations"] = np.concatenate([seen for seen, _ in episodes]).astype(np.float16)
        file["actions"] = flat["u"]
        file["infos/qpos"] = flat["state"]
        file["terminals"] = np.zeros_like(flat["done"])
        file["timeouts"] = flat["done"]


def _table(flat, operator):
    """A list in each row, a number, and texts."""
    columns = {"x": flat["state"].tolist(), "y": flat["goal"], "u": flat["u"].tolist(), "run": flat["run"], "operator": operator}
    pyarrow.parquet.write_table(pyarrow.table(columns), "table.parquet", row_group_size=100)


def _minari(folder, episodes, who):
    os.makedirs(folder)
    with h5py.File(folder / "main_data.hdf5", "w") as file:
        for i, (seen, done) in enumerate(episodes):
            group = file.create_group(f"episode_{i}")
            more = np.vstack([seen, seen[-1:]])
            group["observations/observation"] = more[:, :2].astype(np.float64)
            group["observations/achieved_goal"] = more[:, 2:]
            group["observations/desired_goal/_index_0"] = more[:, 2:]
            group["observations/desired_goal/_index_1"] = np.arange(len(more))
            group["actions"] = done
            group["rewards"] = np.zeros(len(done))
            group["terminations"] = group["truncations"] = np.zeros(len(done), bool)
            group.attrs.update(id=i, total_steps=len(done), operator=who[i])
    (folder / "metadata.json").write_text(json.dumps({"data_format": "hdf5"}), encoding="utf-8")


def _minari_tables(folder, episodes, who):
    """As Minari stores them with data_format="arrow": a table per episode, actions padded by a row."""
    for i, (seen, done) in enumerate(episodes):
        (folder / str(i)).mkdir(parents=True)
        more, acted = np.vstack([seen, seen[-1:]]), np.vstack([done, 0 * done[-1:]])
        lists = lambda rows: pyarrow.FixedSizeListArray.from_arrays(np.ravel(rows), rows.shape[1])
        names = ["observation", "achieved_goal"]
        parts = pyarrow.StructArray.from_arrays([lists(more[:, :2]), lists(more[:, 2:])], names=names)
        flags = pyarrow.array(np.zeros(len(more), bool))
        table = pyarrow.table({"observations": parts, "actions": lists(acted), "rewards": np.zeros(len(more)),
                               "terminations": flags, "truncations": flags})
        with pyarrow.OSFile(str(folder / str(i) / "part-0.arrow"), "wb") as file:
            with pyarrow.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table)
        metadata = {"id": i, "total_steps": len(done), "operator": who[i]}
        (folder / str(i) / "metadata.json").write_text(json.dumps(metadata), encoding="utf-8")
    totals = {"data_format": "arrow", "total_episodes": len(episodes)}
    (folder / "metadata.json").write_text(json.dumps(totals), encoding="utf-8")


def _robomimic(episodes):
    with h5py.File("lift.hdf5", "w") as file:
        for i, (seen, done) in enumerate(episodes):
            file[f"data/demo_{i}/obs/robot0_eef_pos"] = seen[:, :2]
            file[f"data/demo_{i}/obs/object"] = seen[:, 2:]
            file[f"data/demo_{i}/actions"] = done
            file[f"data/demo_{i}"].attrs["num_samples"] = len(done)


def _padded(episodes):
    seen = np.full((len(episodes), 40, 3), np.nan, np.float32)
    done, mask = np.zeros((len(episodes), 40, 2), np.float16), np.zeros((len(episodes), 40))
    for i, (rows, actions) in enumerate(episodes):
        length = 40 - i % 5
        seen[i, :length], done[i, :length], mask[i, :length] = rows[:length], actions[:length], 1
    with h5py.File("padded.hdf5", "w") as file:
        file["obs_array"], file["act_array"], file["mask_array"] = seen, done, mask


def result(program, line):
    """What a command of the page says of its run."""
    end = subprocess.run(line.replace("kindred", program, 1) + " --json", shell=True, capture_output=True, text=True)
    assert end.returncode == 0, f"{line}\n{end.stderr}"
    return json.loads(end.stdout.splitlines()[-1])


def test_examples_run(files, program):
    text = (ROOT / "docs" / "data.md").read_text(encoding="utf-8")
    blocks = re.findall(r"<!-- run -->\n```(\w+)\n(.*?)```", text, re.S)
    assert len(blocks) >= 11
    clustered = 0
    for language, block in blocks:
        if language == "python":
            exec(compile(block, "docs/data.md", "exec"), {})  # noqa: S102
            continue
        for line in block.splitlines():
            said = result(program, line)
            if line.startswith("kindred cluster"):
                clustered += 1
                assert said["k"] == 2, line
                assert said.get("nmi", 1) == 1, line
    assert clustered >= 9


def test_names_are_kept(files):
    data = kindred.load("reach/goal-v0", label_key="operator")
    assert data.observation_names == [
        "achieved_goal",
        "desired_goal/_index_0",
        "desired_goal/_index_1",
        "observation[0]",
        "observation[1]",
    ]
    assert data.label_names == OPERATORS
    assert kindred.load("d4rl.hdf5").observation_names is None
    parts = kindred.load(["part-0.npz", "part-1.npz"])
    assert len(parts) == 24 and parts.ids[12] == "part-1/0"
    keyed = kindred.load("flat.npz", obs_key=["state[1]", "goal"], action_key="u[0]", episode_key="run")
    assert keyed.observation_names == ["state[1]", "goal"] and keyed.action_names == ["u[0]"]
    assert keyed.ids[0] == "100"


def test_some_truths_are_enough(files):
    data = kindred.load("d4rl.hdf5", truth="some.csv", truth_column="operator", truth_episode_column="run")
    assert (data.labels[:10] == np.arange(10) % 2).all() and (data.labels[10:] == -1).all()


def test_a_run_is_replaced_only_when_asked(files):
    data = kindred.load("flat.npz", obs_key="state", action_key="u", done_key="done")
    kindred.cluster(data, run="again", k=1)
    with pytest.raises(ValueError, match="holds a finished run"):
        kindred.cluster(data, run="again", k=2)
    assert kindred.cluster(data, run="again", k=2, force=True).n_clusters == 2
