"""Running scripts in one process with torch, where that torch is the one Kindred is linked to.

Debian's own torch is of Debian's LibTorch; scripts/setup makes an environment around it, with d3rlpy.
"""
import os
import pathlib
import subprocess
import sys

import pytest
from conftest import ROOT

CANDIDATES = [pathlib.Path(sys.executable), ROOT / "build" / "venv-torch" / "bin" / "python"]

EPISODES = """
import numpy as np
import torch
import kindred

rng = np.random.default_rng(0)
weights = rng.standard_normal((2, 3, 2))
truth = np.arange(24) % 2
seen = [rng.standard_normal((40, 3)).astype(np.float32) for _ in truth]
done = [(o @ weights[i] + 0.3 * rng.standard_normal((40, 2))).astype(np.float32) for o, i in zip(seen, truth)]
"""


def python_with(module):
    """An interpreter that has the module beside a torch of the version that Kindred is linked to."""
    for python in CANDIDATES:
        if not python.exists() or _run(python, f"import torch, {module}").returncode != 0:
            continue
        done = _run(python, f"import torch, {module}, kindred; print(torch.__version__, kindred._core.torch_version)")
        assert done.returncode == 0, done.stderr  # Kindred imports beside any torch
        here, own = done.stdout.split()
        if here.startswith(own):
            return python
    pytest.skip(f"*** NOT TESTED: no Python here has {module} beside the torch that Kindred is linked to")


def _run(python, script):
    return subprocess.run([python, "-c", script], capture_output=True, text=True, check=False)


def run(python, script, folder):
    done = subprocess.run([python, "-c", script], cwd=folder, env=os.environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
