"""Files that h5py compressed in every way it has, read as the same data as when they are not.

    build/venv/bin/python tests/data/python/check_compressed.py build/release/kindred
"""
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy
except ImportError as missing:
    print(f"*** NOT TESTED: {missing}; 'scripts/setup test' installs what is needed")
    sys.exit(77)

EPISODES, LENGTH = 6, 70
STEPS = EPISODES * LENGTH


def columns(floats, integers):
    """Numbers that repeat here and there, so that compressors find something."""
    random = numpy.random.default_rng(3)
    ends = numpy.zeros(STEPS, bool)
    ends[LENGTH - 1 :: LENGTH] = True
    return {
        "observations": random.integers(-50, 50, (STEPS, 5)).astype(floats) / 8,
        "actions": random.normal(size=(STEPS, 2)).astype(floats),
        "rewards": numpy.repeat(numpy.arange(STEPS / 7), 7).astype(floats),
        "terminals": ends,
        "timeouts": numpy.zeros(STEPS, integers),
    }


def write_d4rl(path, data, storage):
    with h5py.File(path, "w") as file:
        for name, values in data.items():
            file.create_dataset(name, data=values, **storage(values.shape))


def write_by_key(path, data, storage):
    with h5py.File(path, "w") as file:
        for name, values in data.items():
            file.create_dataset("some/" + name, data=values, **storage(values.shape))


def write_groups(path, data, storage, group, names, more_rows):
    with h5py.File(path, "w") as file:
        for i in range(EPISODES):
            for name, values in data.items():
                part = values[i * LENGTH : (i + 1) * LENGTH]
                if name == "observations" and more_rows:
                    part = numpy.concatenate([part, part[-1:]])
                place = f"{group}{i}/{names.get(name, name)}"
                file.create_dataset(place, data=part, **storage(part.shape))


def write_robomimic(path, data, storage):
    write_groups(path, data, storage, "data/demo_", {"observations": "obs/all", "terminals": "dones"}, False)


def write_minari(path, data, storage):
    names = {"terminals": "terminations", "timeouts": "truncations"}
    write_groups(path, data, storage, "episode_", names, True)


KEYS = ["--obs-key", "some/observations[1:4]", "--action-key", "some/actions", "--reward-key",
        "some/rewards", "--done-key", "some/terminals,some/timeouts"]
WRITERS = [(write_d4rl, []), (write_by_key, KEYS), (write_robomimic, []), (write_minari, [])]


def storages():
    """h5py's filters, on chunks that fit, that are cut at the edges, and that h5py chooses."""
    for compression, shuffle, checksum, rows in itertools.product(
            ["gzip", "lzf", None], [False, True], [False, True], [1, 16, 1000, None]):
        if not (compression or shuffle or checksum):
            continue

        def storage(shape):
            chunk = True
            if rows:
                chunk = (min(rows, shape[0]), *[max(1, extent // 2) for extent in shape[1:]])
            return dict(compression=compression, shuffle=shuffle, fletcher32=checksum, chunks=chunk)

        yield f"{compression}, shuffle {shuffle}, checksum {checksum}, {rows} rows", storage


def fingerprint(kindred, path, keys):
    run = path.with_suffix(".run")
    command = [kindred, "cluster", path, "-o", run, "--method", "return-kmeans", "-k", "2", "--force", *keys]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return json.loads((run / "run.json").read_text())["dataset"]["fingerprint"]


def main():
    kindred = sys.argv[1]
    kinds = [("f4", "u1"), ("f8", "i8"), (">f8", ">i4"), ("f2", "?")]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "file.hdf5"
        plain = {}
        for i, (name, storage) in enumerate(storages()):
            write, keys = WRITERS[(i + i // 4) % len(WRITERS)]  # in turn, with every chunk
            kind = kinds[i // 4 % len(kinds)]
            data = columns(*kind)
            if (write, kind) not in plain:
                write(path, data, lambda shape: {})
                plain[write, kind] = fingerprint(kindred, path, keys)
            write(path, data, storage)
            found = fingerprint(kindred, path, keys)
            assert found == plain[write, kind], (write.__name__, kind, name)
        # Cutting an array in LZF would take HDF5's own filter.
        write_d4rl(path, columns("f4", "u1"), lambda shape: dict(compression="lzf", chunks=True))
        fingerprint(kindred, path, [])
        run = path.with_suffix(".run")
        ran = subprocess.run([kindred, "split", run, "-o", pathlib.Path(folder) / "parts"],
                             capture_output=True, text=True)
        assert ran.returncode == 2 and "(LZF)" in ran.stderr and ran.stderr.count("\n") == 1, ran
    print("what h5py compressed is read as what it is")


main()
