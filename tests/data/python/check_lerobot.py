r"""LeRobot folders and Parquet tables made here, read, labelled, split and cut by Kindred, and opened with
pyarrow and datasets the way LeRobot opens them.

    build/venv/bin/python tests/data/python/check_lerobot.py build/release/kindred \
        build/release/tests/data/libdie_at_rename.so
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

os.environ["HF_HUB_OFFLINE"] = "1"

try:
    import datasets
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as missing:
    print(f"*** NOT TESTED: {missing}; 'scripts/setup test' installs what is needed")
    sys.exit(77)

datasets.disable_progress_bars()
program = sys.argv[1]
LENGTHS = [5, 3, 8, 4, 6, 7, 3]
HIGH = [0, 1, 1, 0, 1, 0, 1]  # which episodes earn much
MOTORS = ["shoulder", "elbow"]
STATISTICS = ["min", "max", "mean", "std", "count", "q50"]


def run(*arguments):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)


def kindred(*arguments):
    done = run(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def refused(*arguments):
    done = run(*arguments)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done
    return done.stderr


def hashes(path):
    files = sorted(f for f in path.rglob("*") if f.is_file())
    return {str(f.relative_to(path)): hashlib.sha256(f.read_bytes()).hexdigest() for f in files}


# ------------------------------------------------------------------------------------- the datasets


def frames(episode, first):
    """The columns of an episode whose first frame has the number `first`."""
    count = LENGTHS[episode]
    rows = np.random.default_rng(episode)
    return {"observation.state": rows.random((count, 2)).astype("f4"),
            "observation.extra": rows.random((count, 3)),
            "action": rows.random((count, 2)).astype("f4"),
            "next.reward": (rows.random(count) + 900 * HIGH[episode] / count).astype("f4"),
            "next.done": np.arange(count) == count - 1,
            "timestamp": (np.arange(count) / 10).astype("f4"),
            "frame_index": np.arange(count),
            "episode_index": np.full(count, episode),
            "index": first + np.arange(count),
            "task_index": np.full(count, episode % 2)}


def statistics(values):
    values = np.asarray(values)
    values = values.reshape(len(values), -1)
    found = {"min": values.min(0), "max": values.max(0), "mean": values.mean(0, "f8"),
             "std": values.std(0, "f8"), "q50": np.quantile(values.astype("f8"), 0.5, axis=0)}
    return {**{name: found[name].tolist() for name in STATISTICS if name in found},
            "count": [len(values)]}


FEATURES = {"observation.state": {"dtype": "float32", "shape": [2], "names": MOTORS},
            "observation.extra": {"dtype": "float64", "shape": [3], "names": None},
            "action": {"dtype": "float32", "shape": [2], "names": {"motors": MOTORS}},
            "next.reward": {"dtype": "float32", "shape": [1], "names": None},
            "next.done": {"dtype": "bool", "shape": [1], "names": None},
            "timestamp": {"dtype": "float32", "shape": [1], "names": None},
            **{name: {"dtype": "int64", "shape": [1], "names": None}
               for name in ["frame_index", "episode_index", "index", "task_index"]}}
PICTURE = {"dtype": "image", "shape": [2, 2, 3], "names": ["height", "width", "channels"]}
VIDEO = {"dtype": "video", "shape": [2, 2, 3], "names": ["height", "width", "channels"]}


def info(version, features, **more):
    return {"codebase_version": version, "robot_type": "arm", "total_episodes": len(LENGTHS),
            "total_frames": sum(LENGTHS), "total_tasks": 2, "chunks_size": 2, "fps": 10,
            "splits": {"train": f"0:{len(LENGTHS)}"}, **more, "features": features}


def hf_features(features):
    """What LeRobot makes of the features in its info, for datasets."""
    made = {}
    for name, feature in features.items():
        if feature["dtype"] == "video":
            continue
        if feature["dtype"] == "image":
            made[name] = datasets.Image()
        elif feature["shape"] == [1]:
            made[name] = datasets.Value(feature["dtype"])
        else:
            made[name] = datasets.Sequence(datasets.Value(feature["dtype"]), length=feature["shape"][0])
    return datasets.Features(made)


def table_of(columns, features):
    """A table as LeRobot writes it."""
    if any(feature["dtype"] == "image" for feature in features.values()):
        columns = {**columns, "observation.images.top": [
            {"bytes": b"picture %d" % index, "path": None} for index in columns["index"]]}
    plain = {name: value.tolist() if isinstance(value, np.ndarray) else value
             for name, value in columns.items()}
    wanted = hf_features(features)
    return pa.table({name: pa.array(plain[name], wanted.arrow_schema.field(name).type)
                     for name in wanted}).replace_schema_metadata(wanted.arrow_schema.metadata)


def all_episodes():
    first = 0
    for episode, length in enumerate(LENGTHS):
        yield episode, first, frames(episode, first)
        first += length


def make_v3(root, files=((0, 1, 2), (3, 4), (5, 6)), pictures=False, video=False, **how):
    """Three files in two chunks, a row group per episode."""
    features = {**FEATURES, **({"observation.images.top": PICTURE} if pictures else {}),
                **({"observation.images.top": VIDEO} if video else {})}
    episodes = {episode: (first, columns) for episode, first, columns in all_episodes()}
    rows = []
    for number, members in enumerate(files):
        place = f"chunk-{number // 2:03d}/file-{number % 2:03d}"
        path = root / "data" / f"{place}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        tables = [table_of(episodes[episode][1], features) for episode in members]
        with pq.ParquetWriter(path, tables[0].schema, **how) as writer:
            for table in tables:
                writer.write_table(table)
        for episode in members:
            first, columns = episodes[episode]
            row = {"episode_index": episode, "tasks": [["pick", "place"][episode % 2]],
                   "length": LENGTHS[episode], "data/chunk_index": number // 2,
                   "data/file_index": number % 2, "dataset_from_index": first,
                   "dataset_to_index": first + LENGTHS[episode]}
            if video:
                row |= {"videos/observation.images.top/chunk_index": 0,
                        "videos/observation.images.top/file_index": episode // 4,
                        "videos/observation.images.top/from_timestamp": first / 10,
                        "videos/observation.images.top/to_timestamp": (first + LENGTHS[episode]) / 10}
            for name, values in columns.items():
                for statistic, value in statistics(values).items():
                    row[f"stats/{name}/{statistic}"] = value
            rows.append({**row, "meta/episodes/chunk_index": 0, "meta/episodes/file_index": episode // 4})
    for number in (0, 1):
        path = root / f"meta/episodes/chunk-000/file-{number:03d}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(rows[4 * number:4 * number + 4]), path, **how)
        if video:
            path = root / f"videos/observation.images.top/chunk-000/file-{number:03d}.mp4"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"film %d" % number)
    pq.write_table(pa.table({"task_index": [0, 1], "task": ["pick", "place"]}), root / "meta/tasks.parquet")
    whole = {name: np.concatenate([columns[name] for _, columns in episodes.values()]) for name in FEATURES}
    (root / "meta/stats.json").write_text(json.dumps({name: statistics(v) for name, v in whole.items()}))
    (root / "meta/info.json").write_text(json.dumps(info(
        "v3.0", features, data_path="data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
        video_path="videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4")))
    return root


def make_v2(root, video=True, **how):
    """A file and a video per episode, two in a chunk."""
    features = {**FEATURES, **({"observation.images.top": VIDEO} if video else {})}
    (root / "meta").mkdir(parents=True)
    lines, episode_statistics = [], []
    for episode, _, columns in all_episodes():
        path = root / f"data/chunk-{episode // 2:03d}/episode_{episode:06d}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table_of(columns, features), path, **how)
        film = root / f"videos/chunk-{episode // 2:03d}/observation.images.top/episode_{episode:06d}.mp4"
        if video:
            film.parent.mkdir(parents=True, exist_ok=True)
            film.write_bytes(b"film %d" % episode)
        lines.append({"episode_index": episode, "tasks": ["pick"], "length": LENGTHS[episode]})
        episode_statistics.append({"episode_index": episode,
                                   "stats": {name: statistics(v) for name, v in columns.items()}})
    for name, content in [("episodes", lines), ("episodes_stats", episode_statistics),
                          ("tasks", [{"task_index": i, "task": t} for i, t in enumerate(["pick", "place"])])]:
        (root / f"meta/{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in content))
    (root / "meta/info.json").write_text(json.dumps(info(
        "v2.1", features, total_videos=len(LENGTHS), total_chunks=4,
        data_path="data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet",
        video_path="videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4")))
    return root


# ------------------------------------------------------------------------------- as LeRobot opens them


def load(root):
    """Info, frames and (v3) episodes; lists of Python values."""
    about = json.loads((root / "meta/info.json").read_text())
    with tempfile.TemporaryDirectory() as cache:
        files = sorted(map(str, (root / "data").glob("*/*.parquet")))
        data = datasets.Dataset.from_parquet(files, features=hf_features(about["features"]), cache_dir=cache)
        if "observation.images.top" in data.features:
            data = data.cast_column("observation.images.top", datasets.Image(decode=False))
        data = data.to_dict()
        episodes = None
        if about["codebase_version"] == "v3.0":
            files = sorted(map(str, (root / "meta/episodes").glob("*/*.parquet")))
            episodes = datasets.Dataset.from_parquet(files, cache_dir=cache).to_list()
    return about, data, episodes


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def labels_of(root, run_folder):
    kindred("cluster", root, "--method", "return-kmeans", "-k", 2, "-o", run_folder)
    with open(run_folder / "labels.csv") as file:
        found = {int(row["episode"]): int(row["label"]) for row in csv.DictReader(file)}
    labels = [found[episode] for episode in range(len(LENGTHS))]
    assert [label == labels[1] for label in labels] == [bool(high) for high in HIGH]
    return labels


def check_part(root, kept):
    """A folder with these episodes of all, numbered anew."""
    about, data, episodes = load(root)
    count, total = len(kept), sum(LENGTHS[e] for e in kept)
    assert (about["total_episodes"], about["total_frames"]) == (count, total), about
    assert about["splits"] == {"train": f"0:{count}"} and about["total_tasks"] == 2
    assert data["index"] == list(range(total))
    assert data["episode_index"] == [new for new, e in enumerate(kept) for _ in range(LENGTHS[e])]
    parts = {e: columns for e, _, columns in all_episodes()}
    for name in ["observation.state", "observation.extra", "action", "next.reward", "frame_index", "task_index"]:
        assert np.array_equal(data[name], np.concatenate([parts[e][name] for e in kept])), name
    assert kindred("info", root)["episodes"] == count
    return about, data, episodes, parts, total


def check_v3_part(root, kept):
    _, data, episodes, parts, total = check_part(root, kept)
    assert [e["episode_index"] for e in episodes] == list(range(len(kept)))
    assert [e["length"] for e in episodes] == [LENGTHS[e] for e in kept]
    for episode in episodes:
        begin, end = episode["dataset_from_index"], episode["dataset_to_index"]
        assert set(data["episode_index"][begin:end]) == {episode["episode_index"]} and end - begin == episode["length"]
        place = f"chunk-{episode['data/chunk_index']:03d}/file-{episode['data/file_index']:03d}.parquet"
        assert episode["episode_index"] in pq.read_table(root / "data" / place)["episode_index"].to_pylist()
        place = f"chunk-{episode['meta/episodes/chunk_index']:03d}/file-{episode['meta/episodes/file_index']:03d}.parquet"
        assert episode["episode_index"] in pq.read_table(root / "meta/episodes" / place)["episode_index"].to_pylist()
        for name, first in [("index", begin), ("episode_index", episode["episode_index"])]:
            wanted = statistics(np.array(data[name][begin:end]))
            for statistic in STATISTICS:
                assert np.allclose(episode[f"stats/{name}/{statistic}"], wanted[statistic]), (name, statistic, first)
    found = json.loads((root / "meta/stats.json").read_text())
    for name in FEATURES:
        wanted = statistics(np.array(data[name]))
        for statistic in ["min", "max", "mean", "std", "count"]:
            assert np.allclose(found[name][statistic], wanted[statistic], atol=1e-6), (name, statistic)
    assert found["index"]["count"] == [total]


def check_v3_labels(folder, name, **how):
    root, run_folder = make_v3(folder / name, **how), folder / f"run-{name}"
    about = kindred("info", root)
    assert (about["format"], about["episodes"], about["steps"]) == ("lerobot", 7, sum(LENGTHS))
    assert about["provenance"]["tasks"] == ["pick", "place"] and about["provenance"]["fps"] == 10
    returns = [float(columns["next.reward"].astype("f8").sum()) for _, _, columns in all_episodes()]
    assert np.allclose([about["return"]["min"], about["return"]["max"]], [min(returns), max(returns)])
    labels = labels_of(root, run_folder)
    before, (_, data, episodes) = hashes(root), load(root)
    bytes_before = {f: f.read_bytes() for f in root.rglob("*.parquet")}

    kindred("label", run_folder)
    about, labelled, labelled_episodes = load(root)
    feature = about["features"]["policy_id"]
    assert (feature["dtype"], feature["shape"], feature["names"]) == ("int64", [1], None)
    assert labelled.pop("policy_id") == [labels[e] for e in data["episode_index"]] and labelled == data
    assert [e.pop("policy_id") for e in labelled_episodes] == labels and labelled_episodes == episodes
    for file, content in bytes_before.items():
        assert file.read_bytes().startswith(content)
    chosen = pq.read_table(root / "data", filters=[("policy_id", "=", labels[1])])  # a folder, as people do
    assert chosen.num_rows == sum(n for n, high in zip(LENGTHS, HIGH) if high)
    assert pq.read_schema(next((root / "data").glob("*/*.parquet"))).field("policy_id").type == pa.int64()
    assert kindred("info", root)["labels"] is None  # found, not the truth

    kindred("label", run_folder, "--key", "other")
    kindred("label", run_folder)  # once more, in place of the first
    assert load(root)[1]["policy_id"] == load(root)[1]["other"]
    kindred("label", run_folder, "--undo")
    assert hashes(root) == before
    assert "nothing to undo" in refused("label", run_folder, "--undo")
    assert "LeRobot itself needs" in refused("label", run_folder, "--key", "index")
    return root, labels


def killed(after, *arguments):
    """Whether a command was killed once so many files had changed; else it came to its end."""
    named = {**os.environ, "LD_PRELOAD": sys.argv[2], "KINDRED_DIES_AFTER": str(after)}
    done = subprocess.run([sys.argv[1], *map(str, arguments)], capture_output=True, text=True, env=named)
    assert done.returncode in (0, -9), done
    return done.returncode != 0


def lasting(files):
    """All but the copies and journals that a killed process leaves until the next change."""
    return {name: digest for name, digest in files.items()
            if ".partial-" not in name and ".kindred-undo" not in name}


def check_killed(folder):
    """Wherever labelling or undoing stops, the folder opens, and undoing brings back every byte."""
    root, run_folder = make_v3(folder / "killed"), folder / "run-killed"
    labels = labels_of(root, run_folder)
    before, (_, data, episodes) = hashes(root), load(root)

    def check_half():
        _, found, rows = load(root)
        of_frames = found.pop("policy_id", [None] * len(data["index"]))
        of_episodes = [row.pop("policy_id", None) for row in rows]
        assert found == data and rows == episodes
        assert all(mine in (None, labels[e]) for mine, e in zip(of_frames, data["episode_index"]))
        assert all(mine in (None, label) for mine, label in zip(of_episodes, labels))

    count = 0
    while killed(count + 1, "label", run_folder):
        count += 1
        check_half()
        kindred("label", run_folder, "--undo")
        assert lasting(hashes(root)) == before
    kindred("label", run_folder, "--undo")
    assert hashes(root) == before, "what the killed left is gone"
    assert count == 6  # info.json, two tables of episodes and three of data
    for undone in range(1, count + 1):
        kindred("label", run_folder)
        assert killed(undone, "label", run_folder, "--undo")
        check_half()
        if undone < count:
            kindred("label", run_folder, "--undo")
        assert lasting(hashes(root)) == before


def check_v3(folder, name, **how):
    root, labels = check_v3_labels(folder, name, **how)
    before, run_folder = hashes(root), folder / f"run-{name}"
    kindred("split", run_folder, "-o", folder / f"parts-{name}")
    for label in (0, 1):
        check_v3_part(folder / f"parts-{name}/policy_{label}", [e for e, its in enumerate(labels) if its == label])
    kindred("filter", run_folder, "--clusters", "0,1", "-o", folder / f"all-{name}")
    check_v3_part(folder / f"all-{name}", range(len(LENGTHS)))
    assert hashes(root) == before
    return labels, folder / f"parts-{name}"


def check_v2(folder):
    root, run_folder = make_v2(folder / "v2"), folder / "run-v2"
    labels = labels_of(root, run_folder)
    before = hashes(root)
    kindred("label", run_folder)
    assert [line["policy_id"] for line in lines_of(root / "meta/episodes.jsonl")] == labels
    load(root)
    assert kindred("info", root)["labels"] is None
    kindred("label", run_folder, "--undo")
    assert hashes(root) == before
    kindred("split", run_folder, "-o", folder / "parts-v2")
    for label in (0, 1):
        part, kept = folder / f"parts-v2/policy_{label}", [e for e, its in enumerate(labels) if its == label]
        about, data, _, _, _ = check_part(part, kept)
        assert about["total_videos"] == len(kept) and about["total_chunks"] == (len(kept) + 1) // 2
        assert [line["episode_index"] for line in lines_of(part / "meta/episodes.jsonl")] == list(range(len(kept)))
        first = 0
        for new, line in enumerate(lines_of(part / "meta/episodes_stats.jsonl")):
            length = LENGTHS[kept[new]]
            assert line["episode_index"] == new and line["stats"]["episode_index"]["max"] == [new]
            assert line["stats"]["index"]["min"] == [first] and line["stats"]["index"]["max"] == [first + length - 1]
            film = part / f"videos/chunk-{new // 2:03d}/observation.images.top/episode_{new:06d}.mp4"
            assert film.read_bytes() == b"film %d" % kept[new]
            first += length
        assert (part / "meta/tasks.jsonl").read_bytes() == (root / "meta/tasks.jsonl").read_bytes()


def make_segments(root, found, names):
    """Segments in which policy 1 takes over after two steps of each episode."""
    kindred("segment", root, "-k", 1, "-o", found)
    rows = [f"{name},0,2,0\n{name},2,{length},1\n" for name, length in zip(names, LENGTHS)]
    table = "episode,start,end,policy,posterior,earliest,latest\n"
    (found / "segments.csv").write_text(table + "".join(row.replace("\n", ",1,0,0\n") for row in rows))
    record = json.loads((found / "segments.json").read_text())
    record["result"]["k"] = 2
    (found / "segments.json").write_text(json.dumps(record))
    return rows


def check_segments(folder):
    for version, make in (("v3", make_v3), ("v2", make_v2)):
        root, found = make(folder / f"turns-{version}"), folder / f"found-{version}"
        rows = make_segments(root, found, range(len(LENGTHS)))
        before, beside = hashes(root), folder / f"turns-{version}.policy.csv"
        data = load(root)[1]
        kindred("label", found)
        if version == "v3":
            _, labelled, episodes = load(root)
            assert labelled.pop("policy_id") == [int(frame >= 2) for frame in data["frame_index"]]
            assert labelled == data
            assert [episode["policy_id"] for episode in episodes] == [-1] * len(LENGTHS), "several act"
            assert not beside.exists()
            kindred("filter", found, "--policy", 1, "-o", folder / "cut-labelled")
            _, part, episodes = load(folder / "cut-labelled")
            assert set(part["policy_id"]) == {1} == {episode["policy_id"] for episode in episodes}
        else:
            assert beside.read_text() == "episode,start,end,policy\n" + "".join(rows)
        assert kindred("info", root)["labels"] is None
        kindred("label", found, "--undo")
        assert hashes(root) == before and not beside.exists()


def cut_columns(stretches):
    """What a cut folder must hold of stretches (episode, begin, end)."""
    parts = {e: columns for e, _, columns in all_episodes()}
    return {name: np.concatenate([parts[e][name][begin:end] for e, begin, end in stretches])
            for name in ["observation.state", "observation.extra", "action", "next.reward", "next.done", "task_index"]}


def check_cut(root, stretches):
    """A folder whose episodes are these stretches."""
    about, data, episodes = load(root)
    lengths = [end - begin for _, begin, end in stretches]
    assert (about["total_episodes"], about["total_frames"]) == (len(lengths), sum(lengths)), about
    for name, wanted in cut_columns(stretches).items():
        assert np.array_equal(data[name], wanted), name
    counts = np.concatenate([np.arange(n) for n in lengths])
    assert data["index"] == list(range(sum(lengths))) and data["frame_index"] == counts.tolist()
    assert data["episode_index"] == np.repeat(np.arange(len(lengths)), lengths).tolist()
    assert np.array_equal(np.array(data["timestamp"], "f4"), (counts / 10).astype("f4"))
    found = kindred("info", root)
    assert (found["episodes"], found["steps"]) == (len(lengths), sum(lengths))
    return about, data, episodes, np.cumsum([0, *lengths])


def same_statistics(found, values):
    for statistic, wanted in statistics(values).items():
        assert np.allclose(found(statistic), wanted), statistic


def check_cuts(folder):
    """Segments as episodes, in both versions; pictures and times of videos as they were."""
    first = [(e, 0, 2) for e in range(len(LENGTHS))]
    second = [(e, 2, length) for e, length in enumerate(LENGTHS) if length >= 5]
    starts = np.cumsum([0, *LENGTHS])
    for kind in ("plain", "pictures", "video"):
        root = make_v3(folder / f"whole-{kind}", **({kind: True} if kind != "plain" else {}))
        make_segments(root, folder / f"turns-{kind}", range(len(LENGTHS)))
        before = hashes(root)
        kindred("filter", folder / f"turns-{kind}", "--policy", 0, "-o", folder / f"first-{kind}")
        kindred("filter", folder / f"turns-{kind}", "--policy", 1, "--min-length", 3, "-o", folder / f"second-{kind}")
        assert hashes(root) == before
        for part, stretches in ((folder / f"first-{kind}", first), (folder / f"second-{kind}", second)):
            about, data, episodes, begins = check_cut(part, stretches)
            for new, (row, (e, begin, end)) in enumerate(zip(episodes, stretches)):
                assert (row["cut_from"], row["first_step"], row["length"]) == (e, begin, end - begin)
                assert (row["dataset_from_index"], row["dataset_to_index"]) == (begins[new], begins[new + 1])
                assert row["tasks"] == [["pick", "place"][e % 2]]
                for name in FEATURES:
                    same_statistics(lambda s: row[f"stats/{name}/{s}"], data[name][begins[new]:begins[new + 1]])
                if kind == "video":
                    film = "videos/observation.images.top/"
                    assert np.isclose(row[film + "from_timestamp"], (starts[e] + begin) / 10, atol=1e-12)
                    assert np.isclose(row[film + "to_timestamp"], (starts[e] + end) / 10, atol=1e-12)
                    name = f"{film}chunk-000/file-{row[film + 'file_index']:03d}.mp4"
                    assert (part / name).read_bytes() == (root / name).read_bytes()
            if kind == "pictures":
                assert [picture["bytes"] for picture in data["observation.images.top"]] == [
                    b"picture %d" % (starts[e] + i) for e, begin, end in stretches for i in range(begin, end)]
            stated = json.loads((part / "meta/stats.json").read_text())
            for name in FEATURES:
                wanted = statistics(np.array(data[name]))
                for statistic in ["min", "max", "mean", "std", "count"]:
                    assert np.allclose(stated[name][statistic], wanted[statistic], atol=1e-6), (name, statistic)

    assert killed(1, "filter", folder / "turns-plain", "--policy", 0, "-o", folder / "killed-part")
    check_cut(folder / "killed-part", first)  # one rename puts all of it in place

    root = make_v2(folder / "whole-v2")
    make_segments(root, folder / "turns-filmed", range(len(LENGTHS)))
    assert "convert_dataset_v21_to_v30" in refused("filter", folder / "turns-filmed", "--policy", 0, "-o", folder / "cut")
    assert not (folder / "cut").exists()
    root = make_v2(folder / "dark", video=False)
    make_segments(root, folder / "turns-dark", range(len(LENGTHS)))
    kindred("filter", folder / "turns-dark", "--policy", 1, "--min-length", 3, "-o", folder / "cut")
    _, data, _, begins = check_cut(folder / "cut", second)
    lines, stated = (lines_of(folder / f"cut/meta/{name}.jsonl") for name in ("episodes", "episodes_stats"))
    for new, (line, its, (e, begin, end)) in enumerate(zip(lines, stated, second, strict=True)):
        assert line == {"episode_index": new, "tasks": ["pick"], "length": end - begin, "cut_from": e, "first_step": begin}
        for name in FEATURES:
            same_statistics(lambda s: its["stats"][name][s], data[name][begins[new]:begins[new + 1]])


def check_truth(folder):
    """Labels that somebody else wrote are the truth, and stay where they are."""
    root = make_v3(folder / "truth")
    for file in (root / "meta/episodes").glob("*/*.parquet"):
        table = pq.read_table(file)
        pq.write_table(table.append_column("policy_id", pa.array([HIGH[e] for e in table["episode_index"].to_pylist()])), file)
    assert kindred("info", root)["labels"]["sizes"] == [HIGH.count(0), HIGH.count(1)]
    labels_of(root, folder / "run-truth")
    before = hashes(root)
    assert "did not write" in refused("label", folder / "run-truth")
    assert hashes(root) == before
    kindred("label", folder / "run-truth", "--replace")
    kindred("label", folder / "run-truth", "--undo")
    assert hashes(root) == before


# ------------------------------------------------------------------------------------------ bad input


def change_info(root, **values):
    path = root / "meta/info.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def replace_column(root, name, values, file="data/chunk-000/file-001.parquet"):
    table = pq.read_table(root / file)
    pq.write_table(table.set_column(table.schema.get_field_index(name), name, values(table)), root / file)


def ragged(table):
    rows = [row[:1 + (i != 2)] for i, row in enumerate(table["observation.state"].to_pylist())]
    return pa.array(rows, pa.list_(pa.float32()))


def with_null(table):
    rows = table["action"].to_pylist()
    rows[1] = None
    return pa.array(rows, pa.list_(pa.float32(), 2))


def with_nan(table):
    rows = table["action"].to_pylist()
    rows[3][1] = float("nan")
    return pa.array(rows, pa.list_(pa.float32(), 2))


def cut(root, size):
    path = root / "data/chunk-001/file-000.parquet"
    path.write_bytes(path.read_bytes()[:size])


BAD = {
    "total_frames is 99": lambda root: change_info(root, total_frames=99),
    "total_episodes is 3": lambda root: change_info(root, total_episodes=3),
    "expected v2.x or v3.x": lambda root: change_info(root, codebase_version="v1.6"),
    "expected one inside the folder": lambda root: change_info(root, data_path="../{chunk_index}{file_index}"),
    "such as data/chunk-": lambda root: change_info(root, data_path="data/{nothing:03d}.parquet"),
    "has no object 'features'": lambda root: change_info(root, features=[]),
    "holds no JSON object": lambda root: (root / "meta/info.json").write_text("{"),
    "file-001.parquet": lambda root: (root / "data/chunk-000/file-001.parquet").unlink(),
    "has no Parquet files": lambda root: shutil.rmtree(root / "meta/episodes"),
    "damaged or no Parquet file": lambda root: cut(root, 900),
    "no Parquet file": lambda root: cut(root, 0),
    "has 1 numbers in row 2, expected 2": lambda root: replace_column(root, "observation.state", ragged),
    "is null in row 1": lambda root: replace_column(root, "action", with_null),
    "has nan in row 3, column 1": lambda root: replace_column(root, "action", with_nan),
    "comes back to episode '0'": lambda root: replace_column(
        root, "episode_index", lambda table: pa.array([0] * table.num_rows)),
    "tells of episode 3 with 4": lambda root: replace_column(
        root, "episode_index", lambda table: pa.array([3] * (table.num_rows - 1) + [4])),
}


def check_bad(folder):
    good = make_v3(folder / "good")
    for sentence, damage in BAD.items():
        bad = folder / "bad"
        shutil.rmtree(bad, ignore_errors=True)
        shutil.copytree(good, bad)
        damage(bad)
        before = hashes(bad)
        found = refused("cluster", bad, "-o", folder / "run")  # info shows numbers that are none
        assert sentence in found, (sentence, found)
        assert hashes(bad) == before
    assert "numeric features" in refused("info", good, "--observation-keys", "nothing")
    chosen = kindred("info", good, "--observation-keys", "observation.extra,observation.state")
    assert chosen["obs_dim"] == 5
    part = kindred("info", good, "--obs-key", "observation.state[1]", "--action-key", "action[0:1]")
    assert (part["obs_dim"], part["observation_names"], part["action_names"]) == (1, ["elbow"], ["shoulder"])


# ------------------------------------------------------------------------------------- other tables


def check_tables(folder):
    """A table with an episode column, of every type that numbers may have, and a folder of two."""
    rows = sum(LENGTHS)
    names = np.repeat([f"run {i}" for i in range(len(LENGTHS))], LENGTHS)
    for floats in (pa.float16(), pa.float32(), pa.float64(), pa.int8(), pa.uint16(), pa.int64()):
        values = np.arange(2 * rows).reshape(rows, 2) % 100
        table = pa.table({"episode": names, "reward": np.repeat(np.divide(HIGH, LENGTHS), LENGTHS),
                          "obs": pa.array(values.astype(floats.to_pandas_dtype()).tolist(), pa.list_(floats)),
                          "action": pa.array(np.arange(rows) % 3, pa.int16())})
        pq.write_table(table, folder / "table.parquet", row_group_size=10)
        about = kindred("info", folder / "table.parquet")
        assert (about["format"], about["episodes"], about["obs_dim"]) == ("parquet", 7, 2), about
        assert about["action"] == {"kind": "discrete", "count": 3}
    (folder / "tables").mkdir()
    pq.write_table(table.slice(0, 20), folder / "tables/a.parquet")
    pq.write_table(table.slice(20), folder / "tables/b.parquet")
    for source in ("table.parquet", "tables"):
        kindred("cluster", folder / source, "--method", "return-kmeans", "-k", 2, "-o", folder / f"run-{source}")
        kindred("label", folder / f"run-{source}")
        kindred("label", folder / f"run-{source}", "--undo")
        kindred("split", folder / f"run-{source}", "-o", folder / f"parts-{source}")
        parts = [pq.read_table(part) for part in sorted((folder / f"parts-{source}").iterdir())]
        assert sorted(pa.concat_tables(parts)["episode"].to_pylist()) == sorted(names)
        assert sorted(len(set(part["episode"].to_pylist())) for part in parts) == [3, 4]
    assert "sort the rows" in refused("info", shuffled(folder, table))


def cut_table(folder, name, table, reading=()):
    """The part of a table that policy 1 made after two steps of each episode, of at least three."""
    source, found, part = (folder / f"{kind}-{name}" for kind in ("source", "found", "part"))
    if isinstance(table, list):
        source.mkdir()
        for i, each in enumerate(table):
            pq.write_table(each, source / f"{i}.parquet", row_group_size=6)
    else:
        pq.write_table(table, source, row_group_size=6)
    kindred("segment", source, "-k", 1, "-o", found, *reading)
    ids = [row.split(",")[0] for row in (found / "segments.csv").read_text().splitlines()[1:]]
    make_rows = "".join(f"{e},0,2,0,1,0,0\n{e},2,{n},1,1,0,0\n" for e, n in zip(dict.fromkeys(ids), LENGTHS))
    (found / "segments.csv").write_text("episode,start,end,policy,posterior,earliest,latest\n" + make_rows)
    record = json.loads((found / "segments.json").read_text())
    record["result"]["k"] = 2
    (found / "segments.json").write_text(json.dumps(record))
    kindred("filter", found, "--policy", 1, "--min-length", 3, "-o", part)
    return part


def check_table_cuts(folder):
    """Numbered and named episodes, flags alone, and a folder whose files meet within an episode."""
    starts, rows = np.cumsum([0, *LENGTHS]), sum(LENGTHS)
    kept = [(e, n) for e, n in enumerate(LENGTHS) if n >= 5]
    chosen = np.concatenate([np.arange(starts[e] + 2, starts[e] + n) for e, n in kept])
    lengths = [n - 2 for _, n in kept]
    ends, steps = np.isin(np.arange(rows), starts[1:] - 1), np.arange(rows) - np.repeat(starts[:-1], LENGTHS)
    rng = np.random.default_rng(5)
    columns = {"obs": pa.array(rng.random((rows, 2)).tolist(), pa.list_(pa.float32())), "action": rng.random(rows),
               "note": [f"step {i}" for i in range(rows)], "index": np.arange(rows), "frame_index": steps.astype("i2"),
               "timestamp": steps / 4, "clock": 100 + np.arange(rows), "terminated": ends & (np.arange(rows) < 20)}
    plain = ["obs", "action", "note", "clock", "terminated"]

    def check(part, truncated=None, same=plain):
        table, old = pq.read_table(part), pa.table(columns).take(chosen)
        for name in same:
            assert table[name].combine_chunks().equals(old[name].combine_chunks()), name
        counts = np.concatenate([np.arange(n) for n in lengths])
        assert table["index"].to_pylist() == list(range(len(chosen)))
        assert table["frame_index"].to_pylist() == counts.tolist() and table["frame_index"].type == pa.int16()
        assert table["timestamp"].to_pylist() == (counts / 4).tolist()
        return table

    last = np.isin(np.arange(len(chosen)), np.cumsum(lengths) - 1)
    for numbers in (pa.int8(), pa.uint64(), pa.float32()):
        episodes = pa.array(np.repeat(10 * np.arange(len(LENGTHS)), LENGTHS).astype(numbers.to_pandas_dtype()))
        table = pa.table({**columns, "episode_index": episodes}).replace_schema_metadata({"mine": "kept"})
        found = check(cut_table(folder, f"numbered-{numbers}", table))
        assert found["episode_index"].to_pylist() == np.repeat(np.arange(len(kept)), lengths).tolist()
        assert found["episode_index"].type == numbers and found.schema.metadata[b"mine"] == b"kept"
        assert found.schema.field("obs").type == pa.list_(pa.float32())
    names = np.repeat([f"run {i}" for i in range(len(LENGTHS))], LENGTHS)
    for named in (pa.array(names), pa.array(names, pa.large_string()), pa.array(names).dictionary_encode()):
        table = pa.table({**columns, "episode": named, "truncated": ends & ~columns["terminated"]})
        part = cut_table(folder, f"named-{named.type}", table)
        found = check(part)
        assert found["episode"].to_pylist() == [f"run {e}@2" for e, n in kept for _ in range(n - 2)]
        assert (np.array(found["truncated"]) | np.array(found["terminated"])).tolist() == last.tolist()
        assert kindred("info", part)["episodes"] == len(kept)
    table = pa.table({**columns, "episode": names})
    found = check(cut_table(folder, "files", [table.slice(0, 10), table.slice(10)]))  # within episode 2
    assert found["episode"].to_pylist() == [f"run {e}@2" for e, n in kept for _ in range(n - 2)]

    first_half = {"terminated": ends & (np.arange(rows) < 20), "timeout": ends & (np.arange(rows) >= 20)}
    whole = pa.table({**columns, **first_half})
    part = cut_table(folder, "flags", whole, ["--done-key", "terminated,timeout"])
    assert kindred("info", part, "--done-key", "terminated,timeout")["episodes"] == len(kept)
    check(part)
    part = cut_table(folder, "done", pa.table({**columns, "done": ends}), ["--done-key", "done"])
    assert check(part)["episode_index"].to_pylist() == np.repeat(np.arange(len(kept)), lengths).tolist()
    assert kindred("info", part)["episodes"] == len(kept)


def shuffled(folder, table):
    path = folder / "shuffled.parquet"
    pq.write_table(table.take(np.random.default_rng(0).permutation(table.num_rows)), path)
    return path


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_v3(folder, "v3")
        check_v3_labels(folder, "no-arrow-schema", store_schema=False)
        check_v3_labels(folder, "old", version="1.0", data_page_version="2.0", compression="gzip", use_dictionary=False)
        labels, parts = check_v3(folder, "pictures", pictures=True)
        for label in (0, 1):
            _, data, _ = load(parts / f"policy_{label}")
            wanted = [b"picture %d" % i for e, first, c in all_episodes() if labels[e] == label for i in c["index"]]
            assert [picture["bytes"] for picture in data["observation.images.top"]] == wanted
        labels, parts = check_v3(folder, "videos", video=True)
        for label in (0, 1):
            films = {f.name: f.read_bytes() for f in (parts / f"policy_{label}").rglob("*.mp4")}
            assert films == {f"file-{e // 4:03d}.mp4": b"film %d" % (e // 4) for e in range(7) if labels[e] == label}
        check_killed(folder)
        check_v2(folder)
        check_segments(folder)
        check_cuts(folder)
        check_table_cuts(folder)
        check_truth(folder)
        check_bad(folder)
        check_tables(folder)
    print("LeRobot's folders are read, labelled, split and cut")


main()
