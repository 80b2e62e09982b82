"""Datasets with cameras made here, and the pictures of them that `kindred report` puts into its page.

    build/venv/bin/python tests/data/python/check_pictures.py build/release/kindred

Videos are read by an ffmpeg of our own that notes what it was asked for and, where there is one, by the
real one.
"""
import base64
import io
import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
    from PIL import Image
except ImportError as missing:
    print(f"*** NOT TESTED: {missing}; 'scripts/setup test' installs what is needed")
    sys.exit(77)

program = sys.argv[1]
has_parquet = sys.argv[2:] != ["no-parquet"]
LENGTHS = [9, 13, 3, 21, 17, 1]
FPS = 10
CAMERAS = ["front", "wrist"]


def colour(episode, step, camera=0):
    """What a frame shows: the episode in red, the step in green, the camera in blue."""
    return 40 * episode + 20, 10 * step + 20, 200 * camera + 25


def frame(episode, step, camera=0, width=240, height=180):
    picture = np.empty((height, width, 3), "u1")
    picture[:] = colour(episode, step, camera)
    return picture


def encoded(picture, kind="PNG"):
    stream = io.BytesIO()
    Image.fromarray(picture).save(stream, kind)
    return stream.getvalue()


def report(folder, data, *more, path=None):
    """What a report holds of cameras, as {episode: {camera: {step: mean colour}}}, and what was said."""
    run = folder / f"{data.name}-run"
    if not run.exists():
        subprocess.run([program, "cluster", data, "-k", "2", "--seed", "1", "-o", run], check=True,
                       capture_output=True)
    environment = {**os.environ, "PATH": str(path) if path else "/nowhere"}
    done = subprocess.run([program, "report", run, "--record", run / "record.json", *more],
                          capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    record = json.loads((run / "record.json").read_text())
    seen = {}
    for one in record["trajectories"]:
        if "pictures" not in one:
            continue
        cameras = zip(record["pictures"]["cameras"], one["pictures"]["cameras"], strict=True)
        seen[one["episode"]] = {name: {step: shown(address) for step, address in
                                       zip(one["pictures"]["steps"], row, strict=True)}
                                for name, row in cameras}
    return record["pictures"], seen, done.stderr


def shown(address):
    if address is None:
        return None
    kind, data = address.split(",")
    assert kind == "data:image/jpeg;base64", kind
    picture = Image.open(io.BytesIO(base64.b64decode(data)))
    picture.load()
    assert picture.width <= 160, picture.size
    return np.asarray(picture.convert("RGB")).reshape(-1, 3).mean(0)


def steps_of(length):
    return sorted({0, round((length - 1) / 4 + 1e-9), round((length - 1) / 2 + 1e-9),
                   round(3 * (length - 1) / 4 + 1e-9), length - 1})


def check_colours(seen, cameras=CAMERAS, tolerance=6):
    assert sorted(seen) == list(range(len(LENGTHS))), sorted(seen)
    for episode, by_camera in seen.items():
        for number, camera in enumerate(cameras):
            found = by_camera[camera]
            assert list(found) == steps_of(LENGTHS[episode]), (episode, list(found))
            for step, mean in found.items():
                wanted = colour(episode, step, number)
                assert np.abs(mean - wanted).max() < tolerance, (episode, step, camera, mean, wanted)


def numbers(episode):
    rows = np.random.default_rng(episode)
    side = episode % 2 * 2 - 1
    states = rows.normal(size=(LENGTHS[episode], 2)).astype("f4")
    return states, (side * states + rows.normal(scale=0.1, size=states.shape)).astype("f4")


# ------------------------------------------------------------------------------------- the datasets


def make_robomimic(path, cameras=2):
    with h5py.File(path, "w") as file:
        for episode, length in enumerate(LENGTHS):
            demo = file.create_group(f"data/demo_{episode}")
            states, actions = numbers(episode)
            demo["obs/object"], demo["actions"] = states, actions
            demo.attrs["num_samples"] = length
            for camera, name in enumerate(CAMERAS[:cameras]):
                demo.create_dataset(f"obs/{name}_image", compression="gzip", data=np.stack(
                    [frame(episode, step, camera) for step in range(length)]))
            if cameras:
                demo["obs/front_depth"] = np.zeros((length, 20, 20, 1), "f4")
    return path


def write_lerobot(root, version, dtype, picture=None):
    """`picture`: what stands in the column for an episode, a step and a camera."""
    features = {"observation.state": {"dtype": "float32", "shape": [2], "names": ["x", "y"]},
                "action": {"dtype": "float32", "shape": [2], "names": ["u", "v"]},
                **{f"observation.images.{name}": {"dtype": dtype, "shape": [180, 240, 3], "names": None}
                   for name in CAMERAS},
                **{name: {"dtype": "int64", "shape": [1], "names": None}
                   for name in ("episode_index", "index")}}
    v3 = version == "v3.0"
    data_path = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet" if v3 \
        else "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet"
    video_path = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4" if v3 \
        else "videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4"
    info = {"codebase_version": version, "fps": FPS, "total_episodes": len(LENGTHS), "chunks_size": 4,
            "total_frames": sum(LENGTHS), "data_path": data_path, "video_path": video_path,
            "features": features}
    (root / "meta").mkdir(parents=True)
    (root / "meta/info.json").write_text(json.dumps(info))
    tables = [table(episode, dtype, picture) for episode in range(len(LENGTHS))]
    files = [[0, 1, 2], [3, 4, 5]] if v3 else [[e] for e in range(len(LENGTHS))]
    rows = []
    for number, episodes in enumerate(files):
        chunk = 0 if v3 else number // 4
        path = root / data_path.format(chunk_index=chunk, file_index=number, episode_chunk=chunk,
                                       episode_index=number)
        path.parent.mkdir(parents=True, exist_ok=True)
        # Row groups that end within episodes, and small pages.
        pq.write_table(pa.concat_tables([tables[e] for e in episodes]), path, row_group_size=10,
                       data_page_size=2000)
        begin = 0.0
        for episode in episodes:
            rows.append({"episode_index": episode, "length": LENGTHS[episode], "tasks": ["push"],
                         "data/chunk_index": 0, "data/file_index": number,
                         **{f"videos/observation.images.{name}/{key}": value for name in CAMERAS
                            for key, value in (("chunk_index", 0), ("file_index", number),
                                               ("from_timestamp", begin),
                                               ("to_timestamp", begin + LENGTHS[episode] / FPS))}})
            begin += LENGTHS[episode] / FPS
    if v3:
        (root / "meta/episodes/chunk-000").mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(rows), root / "meta/episodes/chunk-000/file-000.parquet")
    else:
        (root / "meta/episodes.jsonl").write_text("".join(
            json.dumps({key: row[key] for key in ("episode_index", "length", "tasks")}) + "\n"
            for row in rows))
    return root


def table(episode, dtype, picture):
    states, actions = numbers(episode)
    count = LENGTHS[episode]
    columns = {"observation.state": pa.array(list(states), pa.list_(pa.float32(), 2)),
               "action": pa.array(list(actions), pa.list_(pa.float32(), 2)),
               "episode_index": pa.array([episode] * count),
               "index": pa.array(range(sum(LENGTHS[:episode]), sum(LENGTHS[:episode]) + count))}
    for camera, name in enumerate(CAMERAS):
        if dtype == "image":
            columns[f"observation.images.{name}"] = pa.array(
                [picture(episode, step, camera) for step in range(count)],
                pa.struct({"bytes": pa.binary(), "path": pa.string()}))
    return pa.table(columns)


def video_files(root, version):
    """Each video of a dataset with the camera and the episodes it shows."""
    for camera, name in enumerate(CAMERAS):
        if version == "v3.0":
            for number, episodes in enumerate([[0, 1, 2], [3, 4, 5]]):
                yield root / f"videos/observation.images.{name}/chunk-000/file-{number:03d}.mp4", camera, episodes
        else:
            for e in range(len(LENGTHS)):
                yield (root / f"videos/chunk-{e // 4:03d}/observation.images.{name}/episode_{e:06d}.mp4",
                       camera, [e])


# --------------------------------------------------------------------------------------- the checks


def check_robomimic(folder):
    data = make_robomimic(folder / "demos.hdf5")
    summary, seen, said = report(folder, data)
    assert summary == {"cameras": CAMERAS, "episodes": len(LENGTHS), "problem": None}, summary
    check_colours(seen)
    assert "warning" not in said, said
    few, seen, _ = report(folder, data, "--pictures", "2")
    assert few["episodes"] == len(seen) == 2
    assert report(folder, data, "--pictures", "0")[0] is None
    plain = make_robomimic(folder / "plain.hdf5", cameras=0)
    assert report(folder, plain)[0] is None
    return "robomimic arrays"


def check_several_files(folder):
    """Episodes of the same name in two files are told apart."""
    parts = [make_robomimic(folder / f"part-{i}.hdf5") for i in range(2)]
    with h5py.File(parts[1], "r+") as file:
        for demo in file["data"].values():
            demo["obs/front_image"][...] = 255 - demo["obs/front_image"][...]
    run = folder / "parts-run"
    subprocess.run([program, "cluster", *parts, "-k", "2", "-o", run], check=True, capture_output=True)
    subprocess.run([program, "report", run, "--record", run / "record.json"], check=True, capture_output=True)
    record = json.loads((run / "record.json").read_text())
    for one in record["trajectories"]:
        part, episode = divmod(one["episode"], len(LENGTHS))
        mean = shown(one["pictures"]["cameras"][0][0])
        wanted = np.array(colour(episode, 0))
        assert np.abs(mean - (255 - wanted if part else wanted)).max() < 6, one["episode"]
    assert record["pictures"]["episodes"] == 2 * len(LENGTHS)
    return "robomimic files together"


def check_pictures_in_data(folder):
    def embedded(episode, step, camera):
        if camera == 0:
            return {"bytes": encoded(frame(episode, step, camera)), "path": "x.png"}
        return {"bytes": encoded(frame(episode, step, camera, 120, 90), "JPEG"), "path": None}
    for version in ("v3.0", "v2.1"):
        data = write_lerobot(folder / f"images-{version}", version, "image", embedded)
        summary, seen, said = report(folder, data)
        assert summary["episodes"] == len(LENGTHS) and summary["problem"] is None, (summary, said)
        check_colours(seen)
    return "LeRobot pictures in the data"


def check_pictures_beside_data(folder):
    def beside(episode, step, camera):
        return {"bytes": None, "path": f"images/{camera}/{episode}/{step}.png"}
    data = write_lerobot(folder / "beside", "v3.0", "image", beside)
    for camera in range(2):
        for episode, length in enumerate(LENGTHS):
            (data / f"images/{camera}/{episode}").mkdir(parents=True)
            for step in range(length):
                (data / f"images/{camera}/{episode}/{step}.png").write_bytes(
                    encoded(frame(episode, step, camera)))
    check_colours(report(folder, data)[1])
    outside = write_lerobot(folder / "outside", "v3.0", "image",
                            lambda *_: {"bytes": None, "path": "../../secret.png"})
    summary, seen, said = report(folder, outside)
    assert not seen and "expected one inside the folder" in summary["problem"], summary
    assert said.count("warning") == 1, said
    broken = write_lerobot(folder / "broken", "v3.0", "image", lambda *_: {"bytes": b"no picture", "path": None})
    assert "neither 8-bit PNG nor small JPEG" in report(folder, broken)[2]
    return "LeRobot pictures beside the data"


def make_fake(folder, body):
    folder.mkdir(exist_ok=True)
    script = folder / "ffmpeg"
    script.write_text(f"#!/bin/sh\n{body}")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return folder


def check_asked_of_ffmpeg(folder):
    """What a video reader is asked for, and what becomes of its failures."""
    log, picture = folder / "asked.txt", folder / "frame.jpg"
    picture.write_bytes(encoded(frame(1, 2, 0, 160, 120), "JPEG"))
    works = make_fake(folder / "works", f'''for argument in "$@"; do
  printf '%s\\n' "$argument" >> {log}
  case $argument in pipe:*) eval "/bin/cat {picture} >&${{argument#pipe:}}";; esac
done
''')
    for version in ("v3.0", "v2.1"):
        data = write_lerobot(folder / f"asked-{version}", version, "video")
        for file, _, _ in video_files(data, version):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(b"video")
        log.unlink(missing_ok=True)
        summary, seen, said = report(folder, data, path=works)
        assert summary["problem"] is None and len(seen) == len(LENGTHS), (summary, said)
        for episode, by_camera in seen.items():
            assert list(by_camera["front"]) == steps_of(LENGTHS[episode])
        words = log.read_text().splitlines()
        asked = {(words[i + 3], float(words[i + 1])) for i, word in enumerate(words) if word == "-ss"}
        wanted = set()
        for file, _, episodes in video_files(data, version):
            begin = 0
            for episode in episodes:
                for step in steps_of(LENGTHS[episode]):
                    wanted.add((f"file:{file}", round(max(0, (begin + step - 0.5) / FPS), 6)))
                begin += LENGTHS[episode]
        assert asked == wanted, sorted(asked ^ wanted)

    for body, said in (("exit 3", "ended with exit code 3"), ("exit 0", "found no frame"),
                       ("kill -9 $$", "was ended by signal 9")):
        summary, seen, err = report(folder, data, path=make_fake(folder / "fails", body + "\n"))
        assert not seen and said in summary["problem"] and said in err, (summary, err)
        assert err.count("warning") == 1, err
    assert "install ffmpeg" in report(folder, data)[2]
    shutil.rmtree(data / "videos")
    assert "there is no video" in report(folder, data, path=works)[2]
    return "LeRobot videos through a stand-in for ffmpeg"


def check_videos(folder):
    ffmpeg = shutil.which("ffmpeg")
    if not ffmpeg:
        return "*** NOT TESTED: there is no ffmpeg here, so no real video was read"
    for version in ("v3.0", "v2.1"):
        data = write_lerobot(folder / f"videos-{version}", version, "video")
        for file, camera, episodes in video_files(data, version):
            file.parent.mkdir(parents=True, exist_ok=True)
            pixels = b"".join(frame(e, step, camera).tobytes() for e in episodes
                              for step in range(LENGTHS[e]))
            subprocess.run([ffmpeg, "-v", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", "240x180",
                            "-r", str(FPS), "-i", "-", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-g", "4",
                            file], input=pixels, check=True)
        summary, seen, said = report(folder, data, path=pathlib.Path(ffmpeg).parent)
        assert summary["problem"] is None, (summary, said)
        check_colours(seen, tolerance=8)  # less than a step of one frame
    return "LeRobot videos through ffmpeg"


CHECKS = [check_robomimic, check_several_files]
if has_parquet:
    CHECKS += [check_pictures_in_data, check_pictures_beside_data, check_asked_of_ffmpeg, check_videos]
for check in CHECKS:
    with tempfile.TemporaryDirectory() as scratch:
        print(check(pathlib.Path(scratch)))
