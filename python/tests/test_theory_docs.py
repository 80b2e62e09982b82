"""Every command of docs/theory.md, in order, and what the page says they print."""
import json
import re
import subprocess

import h5py
import numpy as np
from conftest import ROOT


def test_examples_run(tmp_path, monkeypatch, program):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")
    blocks = re.findall(r"<!-- run -->\n```(\w+)\n(.*?)```(?:\n\n```\n(.*?)```)?", text, re.S)
    assert len(blocks) >= 8
    said = {}
    for language, block, shown in blocks:
        if language == "python":
            exec(compile(block, "docs/theory.md", "exec"), {})  # noqa: S102
            continue
        for line in block.splitlines():
            command = line.replace("kindred", program, 1) + " --json"
            end = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
            assert end.returncode == 0, f"{line}\n{end.stderr}"
            said[line] = json.loads(end.stdout.splitlines()[-1])
        if shown:
            assert shown in end.stderr, end.stderr
    assert said["kindred conflicts diagonal.h5 --between 2362,6838"]["conflict"]
    assert said["kindred conflicts diagonal.h5 --policies 4"]["asked"]["verdict"] == "impossible"
    assert all(one["conflicts"] == 0 for one in said["kindred conflicts diagonal.h5 --labels conflicts/colouring.csv"]["clusters"])
    bandit = said["kindred conflicts bandit.h5"]
    assert (bandit["at_most"], bandit["parts"], round(10 ** bandit["log10_divisions"])) == (2, 2, 2)
    permuted = said["kindred conflicts permuted.h5"]
    assert (permuted["at_most"], permuted["parts"], int(permuted["log10_divisions"])) == (4, 24, 31)
    both = said["kindred conflicts permuted.h5 --labels by-position.csv"]
    for division in ("true_policies", "clusters"):
        assert [one["conflicts"] for one in both[division]] == [0, 0, 0, 0]
    with h5py.File("permuted.h5") as file:
        number = file["labels"][:]
    position = np.loadtxt("by-position.csv", delimiter=",", skiprows=1, dtype=int)[:, 1]
    joint = np.histogram2d(number, position, bins=4)[0] / len(number)
    independent = joint.sum(1, keepdims=True) * joint.sum(0, keepdims=True)
    assert (joint * np.log(joint / independent)).sum() < 0.01  # they have nothing to do with each other
    assert said["kindred conflicts petersen.h5 --graph back.col"]["at_most"] == 3
    assert said["kindred conflicts queens.h5"]["at_least"] == 7
    assert said["kindred conflicts printed.h5"]["at_least"] == 7
