"""What goes in, and what is said of what cannot."""
import pathlib
import resource
import subprocess
import sys

import gymnasium
import h5py
import minari
import numpy as np
import pytest

import kindred


def flat(steps=60, episodes=6):
    rng = np.random.default_rng(0)
    return (
        rng.standard_normal((steps, 3)).astype(np.float32),
        rng.standard_normal((steps, 2)).astype(np.float32),
        np.full(episodes, steps // episodes),
    )


def address(array):
    return array.__array_interface__["data"][0]


def test_arrays_cross_without_a_copy():
    seen, done, lengths = flat()
    data = kindred.from_arrays(seen, done, lengths=lengths)
    assert address(data.observations) == address(seen)
    assert address(data.actions) == address(done)
    assert address(data[1][0]) == address(seen[10:])
    assert not data.observations.flags.writeable
    expected = seen.sum()
    del seen
    assert data.observations.sum() == expected  # the dataset keeps it alive
    view = data.observations
    del data
    assert view.sum() == expected  # and the view keeps the dataset


def test_a_gigabyte_is_not_doubled():
    steps, width = 1 << 21, 128
    seen = np.zeros((steps, width), np.float32)
    seen[:, 0] = np.arange(steps)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    data = kindred.from_arrays(seen, np.zeros((steps, 1), np.float32), lengths=np.full(1 << 11, 1 << 10))
    assert data.observations[-1, 0] == seen[-1, 0]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 0.1 * seen.nbytes / 1024


def test_where_episodes_end():
    seen, done, _ = flat(6)
    ends = np.array([0, 0, 1, 0, 0, 0])
    for arguments in ({"lengths": [3, 3]}, {"offsets": [0, 3, 6]}, {"terminals": ends}, {"timeouts": ends}):
        assert kindred.from_arrays(seen, done, **arguments).lengths.tolist() == [3, 3]
    with pytest.raises(ValueError, match="say where episodes end"):
        kindred.from_arrays(seen, done)


@pytest.mark.parametrize(
    "changed",
    [
        lambda a: np.asfortranarray(a),
        lambda a: a.astype(np.float64),
        lambda a: np.repeat(a, 2, axis=0)[::2],
        lambda a: a.astype(np.float16).astype(np.float32),
        lambda a: a.tolist(),
    ],
    ids=["fortran", "float64", "strided", "float16", "lists"],
)
def test_other_arrays_are_converted(changed):
    seen, done, lengths = flat()
    data = kindred.from_arrays(changed(seen), changed(done), lengths=lengths)
    assert np.allclose(data.observations, seen, atol=1e-2)
    assert data.observations.dtype == np.float32


def test_arrays_that_cannot_be_written_to_are_fine():
    seen, done, lengths = flat()
    seen.setflags(write=False)
    assert address(kindred.from_arrays(seen, done, lengths=lengths).observations) == address(seen)


def test_discrete_actions_and_bytes():
    seen = np.arange(40, dtype=np.uint8).reshape(10, 4)
    data = kindred.from_arrays(seen, np.arange(10) % 3, lengths=[5, 5])
    assert data.discrete and data.action_count == 3
    assert data.observations.dtype == np.uint8 and address(data.observations) == address(seen)
    assert data.actions.tolist() == (np.arange(10) % 3).tolist()


def test_observations_that_repeat_are_kept_once():
    seen = np.eye(4, dtype=np.float32)[np.arange(100) % 4]
    data = kindred.from_arrays(seen, np.arange(100) % 2, lengths=[50, 50])
    assert np.array_equal(data.observations, seen)
    assert np.array_equal(data[1][0], seen[50:])


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ([], "there are no episodes"),
        ([(np.zeros((3, 2)), np.zeros((2, 1)), None), 5], "episode 1 is a int"),
        ([(np.zeros((5, 2)), np.zeros((2, 1)))], "episode 0 has 5 observations and 2 actions"),
        ([(np.zeros((0, 2)), np.zeros((0, 1)))], "episode 0 has 0 observations"),
        ([([[1, 2], [3]], np.zeros((2, 1)))], "the observations of episode 0 are ragged"),
        ([(np.array([["a", "b"]]), np.zeros((1, 1)))], "must be real numbers"),
        ([(np.zeros((2, 2), complex), np.zeros((2, 1)))], "must be real numbers"),
        ([(np.array([None, 1], object), np.zeros((2, 1)))], "ragged or not numbers"),
        ([(np.zeros((2, 2)), np.zeros((2, 1))), (np.zeros((2, 3)), np.zeros((2, 1)))], "episode 1 has other numbers"),
        ([{"observations": np.zeros((2, 2))}], "episode 0 has no observations or no actions"),
        (np.zeros((0, 4)), "one-step episodes need"),
        (np.zeros((4, 1)), "one-step episodes need"),
        (np.zeros(4), r"X must be episodes, or \[episodes, numbers\]"),
    ],
)
def test_bad_input_is_one_sentence(source, sentence):
    with pytest.raises(ValueError, match=sentence):
        kindred.load(source)


def test_numbers_that_are_none_are_named(episodes):
    episodes[3][0][5, 1] = np.nan
    with pytest.raises(ValueError, match="(?i)nan|not a number|finite"):
        kindred.PGKMeans().fit(episodes)


def test_what_looks_odd():
    random = np.random.default_rng(0)
    seen, done = random.normal(size=(400, 3)), random.normal(size=(400, 2))
    rewards = random.normal(size=400)
    assert kindred.from_arrays(seen, done, lengths=[20] * 20, rewards=rewards).examine() == []
    seen[:, 2] = done[:, 1]
    found = kindred.from_arrays(seen, done, lengths=[20] * 20, rewards=rewards).examine()
    assert [(one["key"], one["severity"]) for one in found] == [("action-is-observation", "warning")]
    assert "action 1 is observation 2" in found[0]["evidence"]
    assert found[0]["details"]["relation"] == "same"


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(OSError, match="nowhere"):
        kindred.load(tmp_path / "nowhere.hdf5")
    (tmp_path / "text.hdf5").write_text("no dataset")
    with pytest.raises(ValueError, match="text.hdf5"):
        kindred.load(tmp_path / "text.hdf5")
    with pytest.raises(ValueError, match="unknown|no option"):
        kindred.load(tmp_path / "text.hdf5", colour="red")


def test_labels_are_written_undone_split_and_filtered(npz, tmp_path, truth):
    data = kindred.load(npz)
    assert len(data) == 24 and data.returns is not None
    before = npz.read_bytes()
    assert data.write_labels(truth)
    assert data.undo()
    assert npz.read_bytes() == before
    parts = data.split(truth, tmp_path / "parts")
    assert [len(kindred.load(part)) for part in parts] == [12, 12]
    some = kindred.load(data.filter(truth, [1], tmp_path / "some.npz"))
    assert np.array_equal(some[0][0], data[1][0])
    for labels in (truth[:-1], truth.astype(float)):
        with pytest.raises(ValueError, match="24 whole numbers"):
            data.write_labels(labels)
    with pytest.raises(ValueError, match="no episode has one of the labels"):
        data.filter(truth, [7], tmp_path / "none.npz")
    with pytest.raises(ValueError, match="come from arrays"):
        kindred.load([data[0]]).write_labels([0])


def test_a_report_shows_what_cameras_saw(episodes, tmp_path):
    with h5py.File(tmp_path / "demos.hdf5", "w") as file:
        for i, (observations, actions, *_) in enumerate(episodes):
            demo = file.create_group(f"data/demo_{i}")
            demo["obs/flat"], demo["actions"] = observations, actions
            demo["obs/front_image"] = np.full((len(actions), 8, 8, 3), i, "u1")
    model = kindred.PGKMeans(n_clusters=2, run=tmp_path / "run").fit(kindred.load(tmp_path / "demos.hdf5"))
    for run in (model.run_, kindred.open_run(tmp_path / "run")):
        page = pathlib.Path(run.report(tmp_path / "page.html")).read_text(encoding="utf-8")
        assert page.count("data:image/jpeg;base64,") >= len(episodes)


@pytest.mark.parametrize("suffix", ["npz", "hdf5"])
def test_arrays_are_filtered_into_a_file(episodes, tmp_path, truth, suffix):
    data = kindred.load(episodes)
    target = tmp_path / f"some.{suffix}"
    some = kindred.load(data.filter(truth, [1], target))
    assert len(some) == 12 and np.array_equal(some[0][0], data[1][0])
    if suffix == "hdf5":
        assert (some.timeouts.sum(), some.terminals.sum()) == (12, 0)
    with pytest.raises(ValueError, match="exists"):
        data.filter(truth, [1], target)
    assert [len(kindred.load(part)) for part in data.split(truth, tmp_path / "parts")] == [12, 12]


def test_a_dataset_of_minari(tmp_path, monkeypatch, episodes, truth):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    buffers = [
        minari.data_collector.EpisodeBuffer(
            id=i,
            observations=np.concatenate([seen, seen[-1:]]),
            actions=done,
            rewards=np.zeros(len(done)),
            terminations=np.zeros(len(done), bool),
            truncations=np.arange(len(done)) == len(done) - 1,
        )
        for i, (seen, done) in enumerate(episodes)
    ]
    box = gymnasium.spaces.Box(-np.inf, np.inf, (3,), np.float32)
    made = minari.create_dataset_from_buffers(
        "kindred/controllers-v0", buffers, observation_space=box, action_space=gymnasium.spaces.Box(-np.inf, np.inf, (2,))
    )
    by_id, by_object = kindred.load("kindred/controllers-v0"), kindred.load(made)
    for data in (by_id, by_object):
        labels = kindred.PGKMeans(random_state=0).fit_predict(data)
        assert len(set(zip(labels, truth, strict=True))) == 2
    assert np.array_equal(by_id.observations, by_object.observations)


LEROBOT = pathlib.Path(__file__).parents[2] / "tests/fixtures/lerobot"
BESIDE_PYARROW = """
import sys, {first}, {second}, pyarrow.parquet, numpy, kindred
folder = sys.argv[1]
data = kindred.load(folder)
files = sorted(__import__("pathlib").Path(folder, "data").rglob("*.parquet"))
rows = [row for file in files for row in pyarrow.parquet.read_table(file)["observation.state"].to_pylist()]
assert numpy.array_equal(data.observations, numpy.array(rows, "f4"))
assert len(data) == 6 and data[1][1][0] == 1
"""


@pytest.mark.parametrize("version", ["v2", "v3"])
@pytest.mark.parametrize("first, second", [("pyarrow", "kindred"), ("kindred", "pyarrow")])
def test_a_lerobot_folder_beside_pyarrow(version, first, second):
    """Both use Arrow's libraries, whichever loads them."""
    code = BESIDE_PYARROW.format(first=first, second=second)
    done = subprocess.run([sys.executable, "-c", code, LEROBOT / version], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_budget_of_memory_changes_no_label(npz):
    free = kindred.PGKMeans(random_state=0).fit_predict(kindred.load(npz))
    within = kindred.load(npz, memory="4GB")
    assert (kindred.PGKMeans(random_state=0).fit_predict(within) == free).all()
    with pytest.raises(ValueError, match="are too little: the program alone takes"):
        kindred.load(npz, memory="1MB")
