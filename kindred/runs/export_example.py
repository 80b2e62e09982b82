#!/usr/bin/env python3
"""Uses the policies beside this file, which 'kindred export' wrote.

  python example.py                         act on a few observations
  python example.py --policy 1 --numpy      the same for cluster 1, without torch
  python example.py --check                 compare every policy with Kindred's own numbers
  python example.py --env Hopper-v4         act in an environment of gymnasium

In your own code, two lines are enough:

  policy = torch.jit.load("policy_0.pt")
  actions = policy.act(observations)        # float32 [n, obs_dim], raw: it scales them itself
"""
import argparse
import json
import pathlib
import sys

try:
    import numpy as np
except ImportError:
    sys.exit("example.py needs numpy; install it with 'pip install numpy'")

HERE = pathlib.Path(__file__).resolve().parent
TOLERANCE = 1e-5


class NumpyPolicy:
    """The arrays of policy_N.npz; policies.json says in words what happens here."""

    def __init__(self, path):
        with np.load(path) as arrays:
            self.arrays = dict(arrays)

    def __call__(self, observations):
        """Probabilities [n, actions], or (mean, std) when actions are continuous."""
        a = self.arrays
        rows = np.ascontiguousarray(observations, dtype=np.float32)
        if "table" in a:
            return np.stack([self.look_up(row) for row in rows])
        x = (rows[:, a["input_columns"]] - a["input_mean"]) * a["input_scale"]
        if "weight" in a:
            return self.closed_form(x.astype(np.float64).clip(-5, 5))
        layer = 0
        while f"hidden_{layer}_weight" in a:
            x = np.maximum(x @ a[f"hidden_{layer}_weight"] + a[f"hidden_{layer}_bias"], 0)
            layer += 1
        if "logits_weight" in a:
            logits = x @ a["logits_weight"] + a["logits_bias"]
            chances = np.exp(logits - logits.max(1, keepdims=True))
            return chances / chances.sum(1, keepdims=True)
        mean = x @ a["mean_weight"] + a["mean_bias"]
        std = np.logaddexp(0, x @ a["std_weight"] + a["std_bias"]) + np.float32(1e-5)
        return mean * a["action_scale"] + a["action_mean"], std * a["action_scale"]

    def closed_form(self, x):
        a = self.arrays
        cosines = np.sqrt(2) * np.cos(x @ a["cosine_weight"] + a["cosine_bias"])
        y = np.concatenate([np.ones((len(x), 1)), x, cosines], 1) @ a["weight"]
        if "std" in a:
            return y.astype(np.float32), np.tile(a["std"].astype(np.float32), (len(x), 1))
        y = np.maximum(y, 1e-6)
        return (y / y.sum(1, keepdims=True)).astype(np.float32)

    def look_up(self, row):
        chances = self.arrays["probabilities"]
        same = (self.arrays["table"].view(np.int32) == row.view(np.int32)).all(1)
        if not same.any():  # never seen: every action is equally likely
            return np.full_like(chances[0], 1 / chances.shape[1])
        return chances[same.argmax()]

    def act(self, observations):
        result = self(observations)
        return result[0] if isinstance(result, tuple) else result.argmax(1)

    def sample(self, observations):
        result = self(observations)
        if isinstance(result, tuple):
            return np.random.normal(*result).astype(np.float32)
        drawn = np.random.random((len(result), 1))
        return (result.cumsum(1) < drawn * result.sum(1, keepdims=True)).sum(1)


class TorchPolicy:
    """policy_N.pt, taking and giving numpy arrays."""

    def __init__(self, path):
        try:
            import torch
        except ImportError:
            sys.exit("there is no torch here; install it ('pip install torch') or use --numpy")
        self.torch = torch
        self.policy = torch.jit.load(str(path))

    def call(self, method, observations):
        rows = self.torch.from_numpy(np.ascontiguousarray(observations, dtype=np.float32))
        result = method(rows)
        return tuple(r.numpy() for r in result) if isinstance(result, tuple) else result.numpy()

    def __call__(self, observations):
        return self.call(self.policy, observations)

    def act(self, observations):
        return self.call(self.policy.act, observations)

    def sample(self, observations):
        return self.call(self.policy.sample, observations)


def load(about, cluster, numpy_only):
    if not 0 <= cluster < len(about["policies"]):
        sys.exit(f"there is no policy {cluster}; there are 0 to {len(about['policies']) - 1}")
    files = about["policies"][cluster]
    if numpy_only:
        return NumpyPolicy(HERE / files["arrays"])
    return TorchPolicy(HERE / files["torchscript"])


def load_check():
    try:
        with np.load(HERE / "check.npz") as arrays:
            return dict(arrays)
    except FileNotFoundError:
        return None


def show(policy, about):
    check = load_check()
    rows = check["observations"][:5] if check else np.zeros((1, about["obs_dim"]), np.float32)
    print(f"{about['method']}: {len(about['policies'])} policies, each a {about['kind']}:")
    print(f"{about['source']}")
    print(f"on {len(rows)} observations of {about['obs_dim']} numbers:")
    result = policy(rows)
    if about["discrete"]:
        print("probabilities\n", np.round(result, 3))
    else:
        print("mean\n", np.round(result[0], 3), "\nstd\n", np.round(result[1], 3))
    print("most likely actions\n", policy.act(rows))


def difference(ours, theirs):
    """The largest one, relative where a column has numbers larger than 1; nan where one is."""
    return float((np.abs(ours - theirs) / np.maximum(1, np.abs(theirs).max(0))).max())


def compare(policy, check, cluster, discrete):
    result, actions = policy(check["observations"]), policy.act(check["observations"])
    if not discrete:
        pairs = zip((*result, actions), (check["mean"], check["std"], check["actions"]))
        return np.max([difference(ours, theirs[cluster]) for ours, theirs in pairs])
    theirs = check["probabilities"][cluster]
    # Of two actions that are equally likely, either is right.
    chances = [np.take_along_axis(theirs, chosen[:, None], 1)
               for chosen in (actions, check["actions"][cluster])]
    return np.max([difference(result, theirs), difference(*chances)])


def check_all(about, numpy_only):
    check = load_check()
    if check is None:
        sys.exit("there is no check.npz; export once more and name the dataset with --data")
    agree = True
    for cluster in range(len(about["policies"])):
        found = compare(load(about, cluster, numpy_only), check, cluster, about["discrete"])
        print(f"policy {cluster}: largest difference {found:.2g}")
        agree = agree and found <= TOLERANCE  # a nan does not
    print(f"{'the same as' if agree else 'NOT the same as'} Kindred's own on "
          f"{len(check['observations'])} observations (tolerance {TOLERANCE:g})")
    sys.exit(0 if agree else 1)


def make_environment(name, about):
    try:
        import gymnasium
    except ImportError:
        sys.exit("there is no gymnasium here; install it with 'pip install gymnasium[mujoco]'")
    try:
        environment = gymnasium.make(name)
    except gymnasium.error.Error as error:
        sys.exit(f"gymnasium cannot make '{name}': {error}")
    shape = environment.observation_space.shape
    size = int(np.prod(shape)) if shape is not None else 0
    if size != about["obs_dim"]:
        sys.exit(f"'{name}' shows {size} numbers, the policies take {about['obs_dim']}; "
                 "name the environment the data comes from")
    if hasattr(environment.action_space, "n") != about["discrete"]:
        sys.exit(f"'{name}' and the policies have different kinds of actions; "
                 "name the environment the data comes from")
    return environment


def run_episode(environment, act):
    space = environment.action_space
    seen, _ = environment.reset()
    total, steps, over = 0.0, 0, False
    while not over:
        action = act(np.asarray(seen).reshape(1, -1))[0]
        action = int(action) if hasattr(space, "n") else np.clip(action, space.low, space.high)
        seen, reward, terminated, truncated, _ = environment.step(action)
        total, steps, over = total + float(reward), steps + 1, terminated or truncated
    return total, steps


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy", type=int, default=0, help="the cluster whose policy to use (0)")
    parser.add_argument("--numpy", action="store_true", help="use the NPZ files, without torch")
    parser.add_argument("--check", action="store_true",
                        help="compare with check.npz; exit code 1 where they differ")
    parser.add_argument("--env", help="run episodes in this environment of gymnasium")
    parser.add_argument("--episodes", type=int, default=1, help="how many (1)")
    parser.add_argument("--sample", action="store_true", help="draw actions at random in --env")
    options = parser.parse_args()

    about = json.loads((HERE / "policies.json").read_text(encoding="utf-8"))
    if options.check:
        check_all(about, options.numpy)
    policy = load(about, options.policy, options.numpy)
    if not options.env:
        return show(policy, about)
    environment = make_environment(options.env, about)
    for _ in range(options.episodes):
        total, steps = run_episode(environment, policy.sample if options.sample else policy.act)
        print(f"policy {options.policy} in {options.env}: return {total:.1f} in {steps} steps")


if __name__ == "__main__":
    main()
