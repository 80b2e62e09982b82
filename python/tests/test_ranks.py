"""Fits that several processes share: the same answer on each, or one sentence."""
import os
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest
from beside_torch import python_with
from conftest import ROOT
from sklearn.base import clone

import kindred

EXAMPLES = ROOT / "examples" / "several-processes"

FIT = """
import pickle, sys
import kindred
rank, size, address, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
ranks = kindred.Ranks(rank, size, address, patience=5)
"""

TWICE = FIT + """
for seed in range(2):
    model = kindred.PGKMeans(random_state=seed, restarts=4, communicator=ranks).fit(path)
again = pickle.loads(pickle.dumps(model))
assert (again.labels_ == model.labels_).all() and (model.predict(path) == model.labels_).all()
print(model.labels_.tolist(), model.margin_.tolist(), model.run_.record["machine"]["ranks"])
"""

FAILS = FIT + """
try:
    kindred.cluster(path, restarts=2, seed=int(sys.argv[5]), communicator=ranks)
except (ValueError, OSError) as error:
    print(type(error).__name__, error)
"""

STOPPED = FIT + """
print("ready", flush=True)
try:
    while True:
        kindred.cluster(path, restarts=2, communicator=ranks, force=True)
except OSError as error:
    print(type(error).__name__, error)
"""


def free_address():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{one.getsockname()[1]}"


def start(script, count, *arguments):
    address = free_address()
    return [
        subprocess.Popen(
            [sys.executable, "-c", script, str(rank), str(count), address, *map(str, arguments)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for rank in range(count)
    ]


def together(script, count, *arguments):
    said = [process.communicate(timeout=120) for process in start(script, count, *arguments)]
    assert all(out for out, _ in said), said
    return [out for out, _ in said]


def test_every_process_has_the_answer_of_one(npz):
    model = kindred.PGKMeans(random_state=1, restarts=4).fit(str(npz))
    said = together(TWICE, 2, npz)
    assert said == [f"{model.labels_.tolist()} {model.margin_.tolist()} 2\n"] * 2


def test_other_data_and_other_options_are_refused(npz, tmp_path):
    with np.load(npz) as arrays:
        np.savez(tmp_path / "other.npz", **{**arrays, "actions": -arrays["actions"]})
    address = free_address()

    def fits(paths, seeds):
        processes = [
            subprocess.Popen(
                [sys.executable, "-c", FAILS, str(rank), "2", address, str(paths[rank]), str(seeds[rank])],
                stdout=subprocess.PIPE, text=True,
            )
            for rank in range(2)
        ]
        return [process.communicate(timeout=120)[0] for process in processes]

    for said in fits([npz, tmp_path / "other.npz"], [0, 0]):
        assert "rank 1 was given other data than rank 0" in said
    for said in fits([npz, npz], [0, 1]):
        assert "rank 1 was given other options than rank 0" in said


@pytest.mark.parametrize("fault", [signal.SIGKILL, signal.SIGSTOP])
def test_who_is_lost_is_named(npz, fault):
    first, second = start(STOPPED, 2, npz)
    for process in (first, second):
        assert process.stdout.readline() == "ready\n"
    time.sleep(1.0)
    second.send_signal(fault)
    said, err = first.communicate(timeout=60)
    second.kill()
    second.communicate()
    assert said.startswith("ConnectionError rank 1"), said + err
    assert first.returncode == 0


def test_what_is_no_communicator_is_said(npz):
    for given, sentence in [
        ("mpi", "it can be None"),
        (np, "it can be None"),
        ("torch", "init_process_group"),
        (kindred.Ranks(0, 2, "nowhere"), "not HOST:PORT"),
        (kindred.Ranks(2, 2, "127.0.0.1:1"), "rank 2 is not one of 2"),
        (kindred.Ranks(-1, 2, "127.0.0.1:1"), "numbered from 0"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            kindred.cluster(str(npz), communicator=given)


def test_one_process_needs_no_others(npz, monkeypatch):
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "1")
    alone = kindred.cluster(str(npz), restarts=2).labels
    for communicator in ("env", kindred.Ranks(0, 1, "")):
        model = kindred.PGKMeans(restarts=2, random_state=0, communicator=communicator)
        assert (clone(model).fit_predict(str(npz)) == alone).all()


def labels_of(said):
    return [int(label) for label in said.strip().splitlines()[-1].split("policies")[1].split()]


def test_the_example_for_dask_runs(npz):
    pytest.importorskip("distributed", reason="*** NOT TESTED: Dask's distributed is not installed")
    done = subprocess.run(
        [sys.executable, EXAMPLES / "with_dask.py", npz], capture_output=True, text=True, check=False, timeout=180
    )
    assert done.returncode == 0, done.stderr
    assert labels_of(done.stdout) == kindred.PGKMeans(random_state=0).fit_predict(str(npz)).tolist()


def test_the_example_for_torchrun_runs(npz):
    python = python_with("numpy")
    run = [python, "-m", "torch.distributed.run", "-r", "1", "-t", "1", "--nproc_per_node", "2"]
    done = subprocess.run(
        [*run, EXAMPLES / "with_torchrun.py", npz],
        capture_output=True, text=True, check=False, timeout=180, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    said = next(line for line in done.stdout.splitlines() if "policies" in line)
    assert labels_of(said) == kindred.PGKMeans(random_state=0).fit_predict(str(npz)).tolist()


def test_the_other_examples_can_be_read():
    compile((EXAMPLES / "with_ray.py").read_text(encoding="utf-8"), "with_ray.py", "exec")
    assert subprocess.run(["bash", "-n", EXAMPLES / "with_slurm.sh"], check=False).returncode == 0
