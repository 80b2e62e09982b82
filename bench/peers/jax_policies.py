#!/usr/bin/env python3
"""The two steps of torch_policies.py as a strong JAX program: vmapped over policies, compiled as one.

  jax_policies.py m-step|e-step [--policies 20] [--batch 512] [--steps 200000] [--updates 100]
                  [--draw] [--unroll 1] [--precision tensorfloat32|float32|bfloat16] [--repeat 3]

M-step: all updates are one `scan`; batches lie on the device, or with --draw are drawn there update by
update, as a method has to. E-step: one `map` over blocks of episodes. Runs on JAX's default
device; --precision is that of products. Prints lines of JSON (see scripts/bench).
"""
import argparse
import functools
import math

import numpy as np

import problem as problems
import turns

WHO = "JAX"
try:
    import jax
    from jax import numpy as jnp
except ImportError as error:
    turns.absent(WHO, str(error))

RATE, BETA1, BETA2, EPSILON, LONGEST = 1e-3, 0.9, 0.999, 1e-8, 0.5


def log_density(p, x, actions):
    """Of one policy; p: weight and bias layer by layer; x: [batch, inputs] → [batch]."""
    x = jax.nn.relu(x @ p[0] + p[1])
    x = jax.nn.relu(x @ p[2] + p[3])
    out = x @ jnp.concatenate([p[4], p[6]], 1) + jnp.concatenate([p[5], p[7]], 1)
    mean, raw = out[:, :problems.ACTIONS], out[:, problems.ACTIONS:]
    deviation = jax.nn.softplus(raw) + 1e-5
    z = (actions - mean) / deviation
    return -(0.5 * z * z + jnp.log(deviation)).sum(-1) - 0.5 * math.log(2 * math.pi) * problems.ACTIONS


def update(state, x, actions, rate, epsilon):
    """One step of Adam of one policy."""
    p, first, second = state
    gradient = jax.grad(lambda q: -log_density(q, x, actions).mean())(p)
    norm = jnp.sqrt(sum((g * g).sum() for g in gradient))
    scale = jnp.minimum(1.0, LONGEST / (norm + 1e-6))
    gradient = [g * scale for g in gradient]
    first = [BETA1 * m + (1 - BETA1) * g for m, g in zip(first, gradient)]
    second = [BETA2 * v + (1 - BETA2) * g * g for v, g in zip(second, gradient)]
    p = [q - rate * m / (jnp.sqrt(v) + epsilon) for q, m, v in zip(p, first, second)]
    return p, first, second


def drawn(key, episodes, length, batch):
    """Steps of every policy's own episodes: [policies, batch]; policy s has the episodes s, s + S, …"""
    policies = len(episodes)
    own = jax.random.randint(key, (policies, batch), 0, (episodes * length)[:, None])
    return (own // length * policies + jnp.arange(policies)[:, None]) * length + own % length


@functools.partial(jax.jit, static_argnames=("unroll", "length", "batch"))
def train(p, observations, actions, batches, rates, epsilons, unroll, length=0, batch=0):
    """`batches`: [updates, policies, batch]; or a key for each update, where `batch` says how many to draw."""
    side_by_side = jnp.concatenate([observations, actions], 1)  # one gather instead of two
    policies = p[0].shape[0]
    episodes = (observations.shape[0] // length - jnp.arange(policies) + policies - 1) // policies if batch else None

    def step(state, now):
        index, rate, epsilon = now
        if batch:
            index = drawn(index, episodes, length, batch)
        x, a = jnp.split(side_by_side[index], [problems.INPUTS], axis=2)
        return jax.vmap(update, in_axes=(0, 0, 0, None, None))(state, x, a, rate, epsilon), None

    zeros = [jnp.zeros_like(q) for q in p]
    (p, _, _), _ = jax.lax.scan(step, (p, zeros, zeros), (batches, rates, epsilons), unroll=unroll)
    return p


@functools.partial(jax.jit, static_argnames=("length", "at_once"))
def score(p, observations, actions, length, at_once):
    """Σ log π of episodes: [episodes, policies]."""
    def of_block(block):
        x, a = block
        scores = jax.vmap(log_density, in_axes=(0, None, None))(p, x, a)
        return scores.reshape(scores.shape[0], -1, length).sum(2).T

    blocks = observations.shape[0] // at_once
    cut = blocks * at_once
    parts = jax.lax.map(of_block, (observations[:cut].reshape(blocks, at_once, -1),
                                   actions[:cut].reshape(blocks, at_once, -1)))
    parts = parts.reshape(-1, parts.shape[-1])
    if cut == observations.shape[0]:
        return parts
    return jnp.concatenate([parts, of_block((observations[cut:], actions[cut:]))])


def m_step(problem, arguments, p, observations, actions):
    if arguments.draw:
        batches, drawing = jax.random.split(jax.random.key(0), problem.updates), (problem.length, problem.batch)
    else:
        parts = [problem.batches(i, i + 1).astype(np.int32) for i in range(problem.updates)]
        batches, drawing = jnp.asarray(np.concatenate(parts)), ()
    number = np.arange(1, problem.updates + 1)
    correction1, correction2 = 1 - BETA1 ** number, 1 - BETA2 ** number
    rates = jnp.asarray(RATE * np.sqrt(correction2) / correction1, jnp.float32)
    epsilons = jnp.asarray(EPSILON * np.sqrt(correction2), jnp.float32)
    whose = np.arange(problem.episodes)
    length = problem.length

    def likelihood(q):
        scores = np.asarray(score(q, observations, actions, length, block_of(problem, arguments)))
        return float(scores[whose, whose % problem.policies].sum(dtype=np.float64)) / problem.steps

    before = likelihood(p)

    def turn():
        q, took = turns.timed(lambda: jax.block_until_ready(
            train(p, observations, actions, batches, rates, epsilons, arguments.unroll, *drawing)))
        own = {"batches": "own"} if arguments.draw else {}
        return {**took, **own, "before": before, "after": likelihood(q)}

    return turn, {"work": problem.updates * problem.policies * problem.batch,
                   "unit": "trained steps", "flop": problem.training_flop()}


def block_of(problem, arguments):
    """Steps scored at once: whole episodes."""
    return min(max(1, arguments.at_once // problem.length), problem.episodes) * problem.length


def e_step(problem, arguments, p, observations, actions):
    def turn():
        scores, took = turns.timed(lambda: jax.block_until_ready(
            score(p, observations, actions, problem.length, block_of(problem, arguments))))
        total = float(np.asarray(scores).sum(dtype=np.float64))
        return {**took, "after": total / (problem.steps * problem.policies)}

    return turn, {"work": problem.steps * problem.policies, "unit": "policy-steps",
                   "flop": problem.scoring_flop()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("row", choices=["m-step", "e-step"])
    parser.add_argument("--draw", action="store_true", help="batches are drawn within the training")
    parser.add_argument("--unroll", type=int, default=1, help="updates compiled as one body of the scan")
    parser.add_argument("--at-once", type=int, default=1 << 16, help="steps scored at once")
    parser.add_argument("--precision", default="tensorfloat32",
                        choices=["tensorfloat32", "float32", "bfloat16"])
    problems.add_arguments(parser)
    turns.add_arguments(parser)
    arguments = parser.parse_args()
    jax.config.update("jax_default_matmul_precision", arguments.precision)
    problem = problems.from_arguments(arguments)
    data = problem.checksum()
    p = [jnp.asarray(a) for a in problem.parameters()]
    turn, work = {"m-step": m_step, "e-step": e_step}[arguments.row](
        problem, arguments, p, jnp.asarray(problem.observations), jnp.asarray(problem.actions))
    shape = problem.shape if arguments.row == "m-step" else f"{problem.policies}x{problem.steps}"
    turns.take(arguments, {"row": arguments.row, "shape": shape, "who": f"{WHO}, drawing" if arguments.draw else WHO,
                           "device": jax.devices()[0].device_kind, "data": data,
                           "versions": {"jax": jax.__version__}, **work}, turn)


if __name__ == "__main__":
    main()
