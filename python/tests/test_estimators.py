"""The estimators: the program's answers, scikit-learn's manners."""
import _ctypes
import csv
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import controllers
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import kindred
from kindred import _generate

ESTIMATORS = [
    kindred.PGKMeans,
    kindred.CAAE,
    kindred.DEC,
    kindred.VAEKMeans,
    kindred.VQVAE,
    kindred.SORL,
    kindred.ReturnKMeans,
]


def same(labels, truth):
    return len(set(zip(labels, truth, strict=True))) == len(set(truth))


def test_the_estimators_are_what_the_option_tables_say():
    with open(_generate.__file__.replace("_generate.py", "_methods.py"), encoding="utf-8") as file:
        assert file.read() == _generate.generated(), "run python -m kindred._generate"


def test_policies_are_found_unaided(episodes, truth):
    model = kindred.PGKMeans(random_state=0)
    labels = model.fit_predict(episodes)
    assert labels.dtype == np.int64 and same(labels, truth)
    assert model.n_clusters_ == 2 and model.verdict_ == "unique" and not model.alternatives_
    assert len(model.margin_) == 24 and (model.margin_ > 0).all()
    assert [row["k"] for row in model.score_curve_][:2] == [1, 2]
    assert model.n_features_in_ == 5
    assert model.transform(episodes).shape == (24, 2)
    assert np.array_equal(model.predict(episodes[:5]), labels[:5])
    assert model.get_feature_names_out().tolist() == ["pgkmeans0", "pgkmeans1"]
    seen, done = episodes[0]
    policy = model.policies_[labels[0]]
    mean, std = policy.distribution(seen)
    assert np.abs(mean - done).mean() < 0.4 and np.allclose(std, 0.3, atol=0.1)
    assert policy.act(seen[0]).shape == (2,) and policy.act(seen).shape == done.shape


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: e.__name__)
def test_labels_are_the_programs(estimator, npz, tmp_path, program):
    model = estimator(n_clusters=2)
    options = {"random_state": 3} if "random_state" in model.get_params() else {}
    model.set_params(**options)
    labels = model.fit_predict(kindred.load(npz))
    flags = [f"--{model._options[name]}={value}" for name, value in options.items()]
    run = tmp_path / "run"
    subprocess.run(
        [program, "cluster", npz, "--method", model._method, "-k", "2", "-o", run, *flags],
        check=True,
        capture_output=True,
    )
    with open(run / "labels.csv", encoding="utf-8") as file:
        assert [int(row["label"]) for row in csv.DictReader(file)] == labels.tolist()
    assert np.array_equal(kindred.open_run(run).labels, labels)


def test_the_run_is_the_programs(npz, tmp_path, program):
    model = kindred.PGKMeans(run=tmp_path / "run").fit(kindred.load(npz))
    assert model.run_.folder == tmp_path / "run"
    shown = subprocess.run([program, "score", tmp_path / "run"], check=True, capture_output=True, text=True)
    assert "held-out V" in shown.stderr
    frame = model.run_.to_pandas()
    assert list(frame.columns) == ["episode", "label", "margin", "length", "return"]
    opened = kindred.open_run(tmp_path / "run")
    assert opened.to_pandas().equals(frame)
    page = model.run_.report(tmp_path / "page.html")
    assert "<html" in open(page, encoding="utf-8").read(2000).lower()
    found = opened.assign(kindred.load(npz))
    assert np.array_equal(found["labels"], model.labels_) and found["posteriors"].shape == (24, 2)


def test_nothing_is_printed(episodes, capfd):
    kindred.PGKMeans().fit(episodes)
    assert capfd.readouterr() == ("", "")


def test_progress_is_told(episodes):
    seen = []
    kindred.PGKMeans(progress=lambda *told: seen.append(told), policy="mlp", n_clusters=2, restarts=2).fit(controllers(60))
    assert seen and all(len(told) == 4 for told in seen)

    def refuse(*_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        kindred.PGKMeans(progress=refuse, policy="mlp", n_clusters=2).fit(controllers(200))


def test_ctrl_c_stops_within_a_second_and_can_be_resumed(tmp_path):
    script = f"""
import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})
import kindred, time
from conftest import controllers
model = kindred.PGKMeans(4, merge_to=2, policy="mlp", random_state=1, run={str(tmp_path / 'run')!r}, progress=print)
data = controllers(400, length=200)
try:
    model.fit(data)
except KeyboardInterrupt:
    print("stopped at", time.monotonic())
    raise
"""
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    rounds = 0
    for line in process.stdout:  # until it trains again after the first round
        rounds += line.startswith("round")
        if rounds and line.startswith("training"):
            break
    process.send_signal(signal.SIGINT)
    asked = time.monotonic()
    output, errors = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors
    assert float(output.split("stopped at")[1]) - asked < 1.0
    assert (tmp_path / "run" / "state.h5").exists()
    data = controllers(400, length=200)
    model = kindred.PGKMeans(4, merge_to=2, policy="mlp", random_state=1, run=tmp_path / "run", resume=True).fit(data)
    again = kindred.PGKMeans(4, merge_to=2, policy="mlp", random_state=1).fit(data)
    assert np.array_equal(model.labels_, again.labels_)


def test_two_threads_fit_at_once(truth):
    found = {}

    def fit(policies):
        found[policies] = kindred.PGKMeans(random_state=0).fit_predict(controllers(24, policies))

    threads = [threading.Thread(target=fit, args=(policies,)) for policies in (2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for policies, labels in found.items():
        assert same(labels, np.arange(24) % policies)


def test_errors_are_the_programs_sentences(episodes):
    with pytest.raises(ValueError, match="only 24 trajectories"):
        kindred.PGKMeans(n_clusters=50).fit(episodes)
    with pytest.raises(ValueError, match="hidden"):
        kindred.PGKMeans(n_clusters=2, hidden=-1).fit(episodes)
    with pytest.raises(ValueError, match="paper"):
        kindred.PGKMeans(preset="none").fit(episodes)
    with pytest.raises(NotFittedError):
        kindred.PGKMeans().predict(episodes)
    with pytest.raises(OSError, match="proc"):
        kindred.PGKMeans(run="/proc/nothing/run").fit(episodes)


def test_options_that_a_fit_would_not_read_are_refused(episodes):
    unread = kindred.PGKMeans(n_clusters=2, hidden=64)
    sentence = "'--hidden' is for policies that are networks; add '--policy mlp'"
    with pytest.raises(ValueError) as refused:
        unread.fit(episodes)
    assert str(refused.value) == sentence
    with pytest.raises(ValueError, match=sentence):
        kindred.cluster(episodes, k=2, hidden=64)
    with pytest.raises(ValueError, match="'--k-max' is for '-k auto'; leave it out"):
        kindred.PolicySearch(n_clusters=2, k_max=4).fit(episodes)
    # clone passes every parameter, so only what differs from the default counts
    assert clone(unread).get_params() == unread.get_params()
    assert len(clone(unread).set_params(hidden=128).fit(episodes).labels_) == 24
    kindred.PGKMeans(n_clusters=2, preset="paper", hidden=16, restarts=1, max_rounds=1).fit(episodes)


def test_sklearns_tools_take_lists_of_episodes(episodes, truth):
    model = kindred.PGKMeans(random_state=0)
    assert clone(model.set_params(n_clusters=2)).get_params() == model.get_params()
    scores = cross_val_score(model, episodes, cv=3)
    assert scores.shape == (3,) and np.isfinite(scores).all()
    search = GridSearchCV(kindred.PGKMeans(random_state=0), {"n_clusters": [1, 2]}, cv=2).fit(episodes)
    assert search.best_params_ == {"n_clusters": 2}
    pipeline = make_pipeline(FunctionTransformer(list), kindred.PGKMeans(random_state=0))
    assert same(pipeline.fit_predict(episodes), truth)
    assert pipeline.transform(episodes).shape == (24, 2)


def test_fitted_models_are_pickled_whole(episodes):
    model = kindred.PGKMeans(random_state=0).fit(episodes)
    expected, text = model.predict(episodes), pickle.dumps(model)
    del model
    back = pickle.loads(text)
    assert np.array_equal(back.predict(episodes), expected)
    assert np.array_equal(back.labels_, expected) and len(back.policies_) == 2


def test_the_module_is_the_program():
    for arguments in (["--version"], ["cluster", "nowhere.hdf5"]):
        shown = subprocess.run([sys.executable, "-m", "kindred", *arguments], capture_output=True, text=True)
        assert shown.returncode == (0 if arguments == ["--version"] else 2), shown.stderr
    assert "nowhere.hdf5" in shown.stderr


def in_a_new_process(script, *arguments, path=()):
    paths = os.pathsep.join([*map(str, path), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False,
    )


def test_libtorch_is_loaded_by_what_needs_it(npz):
    script = (
        "import sys, kindred; from kindred._torch import loaded_torches; "
        "run = kindred.cluster(sys.argv[1], k=2, seed=0); run.policies[0].act(kindred.load(sys.argv[1])[0][0]); "
        "assert not loaded_torches(), loaded_torches(); "
        "kindred.cluster(sys.argv[1], 'caae', k=2, max_steps=3); assert len(loaded_torches()) == 1"
    )
    done = in_a_new_process(script, npz)
    assert done.returncode == 0, done.stderr


def test_beside_another_libtorch_all_but_networks_works(npz, tmp_path):
    other = tmp_path / "libtorch_cpu.so"  # any library, by that name
    shutil.copy(_ctypes.__file__, other)
    script = (
        "import ctypes, sys; ctypes.CDLL(sys.argv[2]); import kindred; "
        "assert len(kindred.cluster(sys.argv[1], k=2, seed=0).labels) == 24; "
        "kindred.cluster(sys.argv[1], 'caae', k=2, max_steps=3)"
    )
    done = in_a_new_process(script, npz, other)
    assert done.returncode == 1
    assert "OSError: this needs the LibTorch in" in done.stderr and str(other) in done.stderr


def test_another_torch_is_refused_afterwards(npz, tmp_path):
    (tmp_path / "torch" / "lib").mkdir(parents=True)
    (tmp_path / "torch" / "__init__.py").write_text("")
    (tmp_path / "torch" / "lib" / "libtorch_cpu.so").write_bytes(b"")
    script = (
        "import importlib.util, sys, kindred; assert importlib.util.find_spec('torch'); "
        "kindred.cluster(sys.argv[1], 'caae', k=2, max_steps=3); import torch"
    )
    done = in_a_new_process(script, npz, path=[tmp_path])
    assert done.returncode == 1
    assert "one process can hold only one" in done.stderr


def test_clustering_does_not_bring_scikit_learn(npz):
    script = (
        "import sys, kindred; run = kindred.cluster(sys.argv[1], k=2, seed=0); "
        "assert 'sklearn' not in sys.modules; print(*run.labels); "
        "assert (kindred.PGKMeans(2, random_state=0).fit_predict(sys.argv[1]) == run.labels).all()"
    )
    done = subprocess.run([sys.executable, "-c", script, str(npz)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == 24


def test_files_of_a_run_live_as_long_as_it_is_used(episodes):
    run = kindred.cluster(episodes, k=2)
    folder, policy = run.folder, run.policies[0]
    del run
    assert folder.exists() and policy.act(episodes[0][0]).shape == (40, 2)
    del policy
    assert not folder.exists()
