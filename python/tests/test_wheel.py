"""The wheel, in an empty environment outside the tree, where nothing but it can be found."""
import os
import pathlib
import subprocess
import sys

import pytest

EXAMPLE = """
import sys
import kindred
data = kindred.load("data.npz")
model = kindred.PGKMeans(random_state=0)
labels = model.fit_predict(data)
assert model.n_clusters_ == 2 and set(labels[::2]) != set(labels[1::2])
assert model.policies_[0].act(data[0][0]).shape == data[0][1].shape
model.run_.report("page.html")
assert len(kindred.cluster(data, "caae", k=2, max_steps=3).labels) == 24  # networks are a library of their own
assert len(kindred.load(sys.argv[1])) == 6  # and so is what reads Parquet
kindred.show_versions()
"""

LEROBOT = pathlib.Path(__file__).parents[2] / "tests/fixtures/lerobot/v3"


def test_the_wheel_works_where_nothing_else_is(npz, tmp_path):
    wheels = sorted(pathlib.Path(os.environ.get("KINDRED_WHEELS", "nowhere")).glob("kindred-*.whl"))
    if not wheels:
        pytest.skip("*** NOT TESTED: no wheel was built ('make test' builds one)")
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "KINDRED_PROGRAM")}

    def run(*command):
        done = subprocess.run(command, cwd=tmp_path, env=clean, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run(sys.executable, "-m", "venv", "fresh")
    run("fresh/bin/pip", "install", "-q", str(wheels[-1]))
    assert "LibTorch" in run("fresh/bin/python", "-c", EXAMPLE, str(LEROBOT))
    assert "<html" in (tmp_path / "page.html").read_text(encoding="utf-8")[:2000].lower()
    version = run("fresh/bin/kindred", "--version")
    assert run("fresh/bin/python", "-m", "kindred", "--version") == version
