"""Every example of docs/python.md, in order, as one reader would type them."""
import re
import subprocess
import sys

import h5py
import nbclient
import nbformat
import numpy as np
from conftest import ROOT, controllers


def examples():
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text(encoding="utf-8"), re.S)
    assert len(blocks) >= 6
    return blocks


def test_examples_are_typed(tmp_path):
    (tmp_path / "example.py").write_text("\n".join(examples()))
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), "example.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_examples_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    episodes = controllers()
    ends = np.cumsum([len(seen) for seen, _ in episodes]) - 1
    timeouts = np.zeros(ends[-1] + 1, bool)
    timeouts[ends] = True
    with h5py.File("data.hdf5", "w") as file:
        file["observations"] = np.concatenate([seen for seen, _ in episodes])
        file["actions"] = np.concatenate([done for _, done in episodes])
        file["rewards"] = np.zeros(len(timeouts), np.float32)
        file["terminals"] = np.zeros_like(timeouts)
        file["timeouts"] = timeouts
    names = {}
    for block in examples():
        exec(compile(block, "docs/python.md", "exec"), names)  # noqa: S102
    assert (tmp_path / "page.html").exists() and (tmp_path / "parts" / "policy_1.hdf5").exists()


def test_the_notebook_runs(tmp_path):
    path = ROOT / "docs" / "notebooks" / "first-look.ipynb"
    assert path.stat().st_size < 200_000
    notebook = nbformat.read(path, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert (tmp_path / "first-look.html").exists()
