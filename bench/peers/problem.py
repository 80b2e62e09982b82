"""The problem that Kindred and its peers are timed on: a formula, so that every program makes the
same numbers for itself, bit by bit. bench/problem.h is the same in C++; `checksum` tells them apart.

Steps come in episodes; episode e was made by policy e mod S, which answers an observation by
a number of it, a product of two, and noise. A training step of policy s takes `batch` of the steps of
its own episodes.
"""
import dataclasses

import numpy as np

INPUTS, ACTIONS, HIDDEN = 17, 6, 128
OBSERVATIONS, NOISE, PARAMETERS, BATCHES, LENGTHS = range(5)  # streams of random numbers
STREAM = 1 << 40  # numbers of a stream before those of the next


def mixed(counter):
    """64 random bits for every counter (the finaliser of SplitMix64)."""
    x = (np.asarray(counter, np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def bits(stream, begin, count):
    return mixed(np.arange(begin, begin + count, dtype=np.uint64) + np.uint64(stream * STREAM))


def small_numbers(stream, count):
    """Uniform in [-2, 2) in steps of 1/1024: their products are exact in float64."""
    twelve = (bits(stream, 0, count) >> np.uint64(52)).astype(np.float64)
    return (twelve - 2048) / 1024


def uniform(begin, count, bound):
    """Parameters within ±bound."""
    unit = (bits(PARAMETERS, begin, count) >> np.uint64(40)).astype(np.float64) / (1 << 23) - 1
    return (unit * bound).astype(np.float32)


def initial(shapes, copies):
    """Arrays [copies, rows, columns] for (rows, columns, fan_in), uniform in ±1/sqrt(fan_in)."""
    result, begin = [], 0
    for rows, columns, fan_in in shapes:
        count = copies * rows * columns
        result.append(uniform(begin, count, 1 / np.sqrt(fan_in)).reshape(copies, rows, columns))
        begin += count
    return result


def checksum(*arrays):
    """Of the bits of float32 arrays; a change of any number changes it."""
    total = 0
    for array in arrays:
        numbers = np.ascontiguousarray(array, np.float32).reshape(-1).view(np.uint32).astype(np.uint64)
        weights = np.arange(1, 2 * numbers.size + 1, 2, dtype=np.uint64)
        total = (total * 31 + int((numbers * weights).sum(dtype=np.uint64))) % (1 << 64)
    return f"{total:016x}"


def make_steps(whose):
    """Observations [steps, INPUTS] and actions [steps, ACTIONS] of steps made by policies `whose`."""
    steps = len(whose)
    x = small_numbers(OBSERVATIONS, steps * INPUTS).reshape(steps, INPUTS)
    noise = small_numbers(NOISE, steps * ACTIONS).reshape(steps, ACTIONS)
    rows = np.arange(steps)
    actions = np.empty((steps, ACTIONS), np.float32)
    for j in range(ACTIONS):
        first, second, third = (x[rows, (n * whose + m * j + c) % INPUTS]
                                for n, m, c in ((1, 1, 0), (1, 3, 1), (2, 1, 5)))
        actions[:, j] = first * second / 2 + third + noise[:, j] / 4
    return x.astype(np.float32), actions


@dataclasses.dataclass
class Problem:
    policies: int = 4
    steps: int = 200_000  # of the dataset
    length: int = 500  # of an episode
    batch: int = 512  # steps of a policy in a training step
    updates: int = 100  # training steps

    def __post_init__(self):
        self.episodes = self.steps // self.length
        self.steps = self.episodes * self.length
        whose = np.arange(self.episodes) % self.policies
        self.whose = np.repeat(whose, self.length)  # [steps]
        self.observations, self.actions = make_steps(self.whose)

    def batches(self, begin, end):
        """Steps of the dataset for training steps [begin, end): [end - begin, policies, batch]."""
        count = (end - begin) * self.policies * self.batch
        drawn = bits(BATCHES, begin * self.policies * self.batch, count)
        drawn = drawn.reshape(-1, self.policies, self.batch)
        policy = np.arange(self.policies)
        episodes = (self.episodes - policy + self.policies - 1) // self.policies  # of each policy
        own = (drawn % (episodes * self.length).astype(np.uint64)[:, None]).astype(np.int64)
        episode = own // self.length * self.policies + policy[:, None]
        return episode * self.length + own % self.length

    def parameters(self):
        """Weights [policies, inputs, outputs] and biases [policies, 1, outputs], layer by layer: two
        hidden layers, means, raw deviations."""
        layers = [(INPUTS, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, ACTIONS), (HIDDEN, ACTIONS)]
        shapes = [s for n, m in layers for s in ((n, m, n), (1, m, n))]
        return initial(shapes, self.policies)

    def checksum(self):
        return checksum(self.observations, self.actions, *self.parameters())

    @property
    def shape(self):
        return f"{self.policies}x{self.batch}"

    def training_flop(self):
        """Of all training steps: products forward, and twice that backward, but for the inputs'."""
        weights = (INPUTS + HIDDEN + 2 * ACTIONS) * HIDDEN
        return self.updates * self.policies * self.batch * (6 * weights - 2 * INPUTS * HIDDEN)

    def scoring_flop(self):
        return 2 * self.steps * self.policies * (INPUTS + HIDDEN + 2 * ACTIONS) * HIDDEN


@dataclasses.dataclass
class Sequences:
    """Episodes of different lengths for the trajectory autoencoder: update i takes the `batch`
    episodes from i * batch on, in a circle."""
    count: int = 256
    longest: int = 200
    batch: int = 64
    updates: int = 8
    k: int = 4

    def __post_init__(self):
        half = self.longest // 2
        drawn = bits(LENGTHS, 0, self.count) % np.uint64(self.longest - half + 1)
        self.lengths = half + drawn.astype(np.int64)
        self.offsets = np.concatenate([[0], np.cumsum(self.lengths)])
        self.observations, self.actions = make_steps(np.repeat(np.arange(self.count) % self.k, self.lengths))

    def batches(self):
        """Episodes of the batches of a round, [rounds, batch], each the longest first."""
        whole = np.arange(self.count // self.batch * self.batch).reshape(-1, self.batch)
        return [b[np.argsort(-self.lengths[b], kind="stable")] for b in whole]

    def parameters(self):
        """The autoencoder's, by name: weights [inputs, outputs] and biases [1, outputs], in the order
        of AutoencoderLayout (kindred/nn/autoencoder.h); then the centroids, [k, features]."""
        pair, hidden, memory, features, seen = INPUTS + ACTIONS, 128, 64, 16, 16 + INPUTS
        shapes = {
            "step1": (pair, hidden, pair), "step1_bias": (1, hidden, pair),
            "step2": (hidden, hidden, hidden), "step2_bias": (1, hidden, hidden),
            "gru_input": (hidden, 3 * memory, memory), "gru_input_bias": (1, 3 * memory, memory),
            "gru_recurrent": (memory, 3 * memory, memory), "gru_recurrent_bias": (1, 3 * memory, memory),
            "prefix": (memory, hidden, memory), "prefix_bias": (1, hidden, memory),
            "keys_values": (hidden, 2 * features, hidden), "queries": (1, features, 8),
            "from_features": (features, 128, seen), "from_observation": (INPUTS, 128, seen),
            "decoder1_bias": (1, 128, seen),
            "decoder2": (128, 32, 128), "decoder2_bias": (1, 32, 128),
            "decoder3": (32, 32, 32), "decoder3_bias": (1, 32, 32),
            "mean": (32, ACTIONS, 32), "mean_bias": (1, ACTIONS, 32),
            "deviation": (32, ACTIONS, 32), "deviation_bias": (1, ACTIONS, 32),
            "centroids": (self.k, features, 1)}
        return dict(zip(shapes, (a[0] for a in initial(shapes.values(), 1))))

    def checksum(self):
        return checksum(self.observations, self.actions, *self.parameters().values())


def add_arguments(parser):
    for name, text in (("policies", "policies that are trained or that score"),
                       ("steps", "steps of the dataset"), ("length", "steps of an episode"),
                       ("batch", "steps of a policy in a training step"),
                       ("updates", "training steps of a turn")):
        parser.add_argument(f"--{name}", type=int, default=getattr(Problem, name), help=text)


def from_arguments(arguments):
    return Problem(arguments.policies, arguments.steps, arguments.length, arguments.batch,
                   arguments.updates)
