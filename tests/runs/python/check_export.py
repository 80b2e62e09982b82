#!/usr/bin/env python3
"""Exported policies as a user of Python meets them.

  check_export.py PROGRAM

Generates small datasets, clusters and exports them with the program, and holds what torch and numpy
compute against check.npz. Exit codes: 0 all hold, 1 one does not, 77 torch is not here.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
    import torch
except ImportError as error:
    print(f"*** NOT TESTED: {error}; 'scripts/setup test' installs python3-torch")
    sys.exit(77)

TOLERANCE = 1e-5  # as in example.py; versions of torch add up in other orders

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()

# As much of gymnasium as example.py asks for: seven steps, each with half a point.
GYMNASIUM = """
import types
import numpy as np

class error:
    class Error(Exception):
        pass

class Space:
    low, high = -0.01, 0.01

class Seven:
    observation_space = types.SimpleNamespace(shape=(SIZE,))
    action_space = Space()

    def reset(self):
        self.steps = 0
        return np.zeros(SIZE), {}

    def step(self, action):
        if hasattr(Space, "n"):
            assert type(action) is int and 0 <= action < Space.n
        else:
            assert (np.abs(action) <= Space.high).all() and action.ndim == 1
        self.steps += 1
        return np.ones(SIZE), 0.5, self.steps == 7, False, {}

def make(name):
    if name != "Seven-v0":
        raise error.Error("no such environment")
    return Seven()
"""


def run(*command, code=0):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != code:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


class Exported:
    """What every kind of policy must satisfy; a subclass says how to make a run of that kind."""

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        home = pathlib.Path(cls.temporary.name)
        run(PROGRAM, "generate", *cls.generate, "--seed", "1", "-o", home / "data.h5")
        run(PROGRAM, "cluster", home / "data.h5", "-k", "4", "--restarts", "1", "--max-rounds", "3",
            "--choose", "objective", *cls.cluster, "-o", home / "run")
        cls.folder = home / "policies"
        run(PROGRAM, "export", home / "run", "-o", cls.folder)
        cls.about = json.loads((cls.folder / "policies.json").read_text())
        cls.check = dict(np.load(cls.folder / "check.npz", allow_pickle=False))
        cls.rows = torch.from_numpy(cls.check["observations"])
        files = [policy["torchscript"] for policy in cls.about["policies"]]
        assert len(files) > 1, "one policy cannot be mistaken for another"
        cls.policies = [torch.jit.load(str(cls.folder / file)) for file in files]

    def example(self, *arguments, code=0):
        return run(sys.executable, self.folder / "example.py", *arguments, code=code)

    def test_describes_itself(self):
        for c, policy in enumerate(self.policies):
            self.assertEqual((policy.cluster, policy.method), (c, "pg-kmeans"))
            for name in ("obs_dim", "discrete", "actions", "version"):
                self.assertEqual(getattr(policy, name), self.about[name])
        self.assertEqual(self.rows.shape, (256, self.about["obs_dim"]))

    def test_refuses_other_observations(self):
        with self.assertRaisesRegex(Exception, "takes observations of shape"):
            self.policies[0](torch.zeros(2, self.about["obs_dim"] + 1))

    def test_takes_other_types_of_numbers(self):
        doubles = self.policies[0].act(self.rows.double())
        self.assertTrue(torch.equal(doubles, self.policies[0].act(self.rows)))

    def test_lives_the_life_of_a_module(self):
        policy = torch.jit.load(str(self.folder / "policy_0.pt")).eval()
        frozen = torch.jit.freeze(policy, preserved_attrs=["act"])
        self.assertTrue(torch.allclose(frozen.act(self.rows), policy.act(self.rows)))
        policy.save(str(self.folder.parent / "again.pt"))
        again = torch.jit.load(str(self.folder.parent / "again.pt"))
        self.assertTrue(torch.equal(again.act(self.rows), policy.act(self.rows)))

    def test_example_agrees(self):
        for arguments in (["--check"], ["--check", "--numpy"]):
            self.assertIn("\nthe same as Kindred's own on 256", self.example(*arguments))

    def test_example_sees_a_difference(self):
        other = self.folder.parent / ("wrong" + self.id())
        other.mkdir()
        for file in self.folder.iterdir():
            (other / file.name).write_bytes(file.read_bytes())
        (other / "policy_1.npz").write_bytes((other / "policy_0.npz").read_bytes())
        said = run(sys.executable, other / "example.py", "--check", "--numpy", code=1)
        self.assertIn("NOT the same", said)
        (other / "check.npz").unlink()
        said = run(sys.executable, other / "example.py", "--check", "--numpy", code=1)
        self.assertIn("there is no check.npz", said)

    def test_example_acts(self):
        for arguments in ([], ["--numpy", "--policy", "1"]):
            self.assertIn("most likely actions", self.example(*arguments))
        self.assertIn("there is no policy 9", self.example("--policy", "9", code=1))

    def test_example_runs_episodes(self):
        gymnasium = GYMNASIUM.replace("SIZE", str(self.about["obs_dim"]))
        if self.about["discrete"]:
            gymnasium = gymnasium.replace("low, high = -0.01, 0.01", "n = 5")
        (self.folder / "gymnasium.py").write_text(gymnasium)  # found first, being beside the script
        self.addCleanup((self.folder / "gymnasium.py").unlink)
        said = self.example("--numpy", "--env", "Seven-v0", "--episodes", "2", "--sample")
        self.assertEqual(said, 2 * "policy 0 in Seven-v0: return 3.5 in 7 steps\n")
        self.assertIn("cannot make 'Nowhere-v0': no such", self.example(
            "--numpy", "--env", "Nowhere-v0", code=1))


class ExportedDiscrete(Exported):
    def test_computes_the_same(self):
        for c, policy in enumerate(self.policies):
            chances = policy(self.rows).numpy()
            np.testing.assert_allclose(chances, self.check["probabilities"][c], atol=TOLERANCE)
            np.testing.assert_allclose(chances.sum(1), 1, atol=1e-6)
            acted = policy.act(self.rows).numpy()
            self.assertEqual(acted.dtype, np.int64)
            chosen = np.take_along_axis(chances, acted[:, None], 1)[:, 0]
            np.testing.assert_allclose(chosen, self.check["probabilities"][c].max(1), atol=TOLERANCE)
            self.assertGreater((acted == self.check["actions"][c]).mean(), 0.99)

    def test_samples(self):
        torch.manual_seed(1)
        row = self.rows[7:8]
        drawn = self.policies[1].sample(row.repeat(20000, 1))
        shares = torch.bincount(drawn, minlength=self.about["actions"]) / 20000
        self.assertLess((shares - self.policies[1](row)[0]).abs().max(), 0.02)


class Networks(ExportedDiscrete, unittest.TestCase):
    generate = ("diagonal", "--per-expert", "30")
    cluster = ("--policy", "mlp", "--hidden", "16", "--max-steps", "200")


class Tables(ExportedDiscrete, unittest.TestCase):
    generate = ("diagonal", "--per-expert", "30")
    cluster = ("--policy", "tabular")

    def test_unseen_observations_are_uniform(self):
        chances = self.policies[0](torch.full((3, self.about["obs_dim"]), 0.5))
        self.assertTrue(torch.equal(chances, torch.full_like(chances, 1 / self.about["actions"])))


class Continuous(Exported, unittest.TestCase):
    generate = ("path-following", "--per-expert", "20")
    cluster = ("--hidden", "16", "--max-steps", "200")

    def test_computes_the_same(self):
        for c, policy in enumerate(self.policies):
            mean, std = policy(self.rows)
            np.testing.assert_allclose(mean.numpy(), self.check["mean"][c], rtol=TOLERANCE, atol=TOLERANCE)
            np.testing.assert_allclose(std.numpy(), self.check["std"][c], rtol=TOLERANCE, atol=TOLERANCE)
            self.assertTrue(torch.equal(policy.act(self.rows), mean))

    def test_samples(self):
        torch.manual_seed(1)
        row = self.rows[7:8]
        mean, std = self.policies[1](row)
        drawn = (self.policies[1].sample(row.repeat(20000, 1)) - mean) / std
        self.assertLess(drawn.mean(0).abs().max(), 0.05)
        self.assertLess((drawn.std(0) - 1).abs().max(), 0.05)


if __name__ == "__main__":
    unittest.main()
