#!/usr/bin/env python3
"""PG-Kmeans' two steps as a strong PyTorch program: training policies, and scoring all steps.

  torch_policies.py m-step [--device cuda] [--form batched|separate|processes|graph|compiled]
                    [--policies 20] [--batch 512] [--steps 200000] [--updates 100] [--repeat 3] [--threads 2]
  torch_policies.py e-step [--device cuda] [--form …] …

M-step: from the same parameters, `updates` times: gather a batch for every policy, the mean of
-log π(a|s), backward, gradients shortened to 0.5 policy by policy, Adam. Every turn starts over.
E-step: Σ log π(a|s) of every episode under every policy.

Forms: `batched`, all policies in one batched product a layer; `separate`, a loop over policies;
`processes`, that loop shared out among as many processes as threads were asked for, one thread each;
`graph`, the batched step captured once as a CUDA graph; `compiled`, the same with the network through
torch.compile. Products are in TF32 on a GPU unless --float32. Prints lines of JSON (see scripts/bench).
"""
import argparse
import math
import multiprocessing
import sys

import problem as problems
import turns

WHO = "PyTorch"
try:
    import torch
    from torch.nn import functional as F
except ImportError as error:
    turns.absent(WHO, str(error))

RATE, BETA1, BETA2, EPSILON, LONGEST = 1e-3, 0.9, 0.999, 1e-8, 0.5
SCORED_AT_ONCE = {"cpu": 2048, "cuda": 1 << 17}  # steps; on a CPU so many stay in the cache


class Policies:
    """Parameters of policies as one tensor, [policies, numbers], and what they say of actions."""

    def __init__(self, arrays, device):
        tensors = [torch.from_numpy(a) for a in arrays]
        self.shapes = [t.shape[1:] for t in tensors]
        self.sizes = [s.numel() for s in self.shapes]
        self.flat = torch.cat([t.flatten(1) for t in tensors], 1).to(device)

    def layers(self, flat):
        parts = flat.split(self.sizes, 1)
        return [p.view(len(flat), *shape) for p, shape in zip(parts, self.shapes)]


def log_density(mean, raw, actions):
    deviation = F.softplus(raw) + 1e-5
    z = (actions - mean) / deviation
    return -(0.5 * z * z + deviation.log()).sum(-1) - 0.5 * math.log(2 * math.pi) * problems.ACTIONS


def batched_log_density(p, x, actions):
    """x: [policies, batch, inputs] → [policies, batch]."""
    x = torch.baddbmm(p[1], x, p[0]).relu_()
    x = torch.baddbmm(p[3], x, p[2]).relu_()
    # Both heads in one product.
    out = torch.baddbmm(torch.cat([p[5], p[7]], 2), x, torch.cat([p[4], p[6]], 2))
    mean, raw = out.split(problems.ACTIONS, 2)
    return log_density(mean, raw, actions)


def single_log_density(p, x, actions):
    """Of one policy, p: its own layers; x: [batch, inputs] → [batch]."""
    x = torch.addmm(p[1], x, p[0]).relu_()
    x = torch.addmm(p[3], x, p[2]).relu_()
    out = torch.addmm(torch.cat([p[5], p[7]], 1), x, torch.cat([p[4], p[6]], 1))
    mean, raw = out.split(problems.ACTIONS, 1)
    return log_density(mean, raw, actions)


class Task:
    """The problem on a device."""

    def __init__(self, problem, device):
        self.problem, self.device = problem, device
        self.observations = torch.from_numpy(problem.observations).to(device)
        self.actions = torch.from_numpy(problem.actions).to(device)
        self.side_by_side = torch.cat([self.observations, self.actions], 1)
        self.whose = torch.from_numpy(problem.whose).to(device)
        self.start = Policies(problem.parameters(), device)

    def gather(self, index):
        """Observations and actions of a batch, by one gather instead of two."""
        return self.side_by_side[index].split([problems.INPUTS, problems.ACTIONS], -1)

    def likelihood(self, flat):
        """Mean of log π(a|s) over all steps, each under the policy it belongs to."""
        total = 0.0
        layers = self.start.layers(flat)
        with torch.no_grad():
            for s in range(self.problem.policies):
                own = [p[s] for p in layers]
                for steps in (self.whose == s).nonzero().view(-1).split(1 << 16):
                    scores = single_log_density(own, self.observations[steps], self.actions[steps])
                    total += scores.double().sum().item()
        return total / self.problem.steps


class Training(Task):
    """What Adam over all policies needs: batches and rates of all updates lie on the device."""

    def __init__(self, problem, device):
        super().__init__(problem, device)
        # int32 halves what has to be kept; gathers want int64.
        parts = [torch.from_numpy(problem.batches(i, i + 1)).int() for i in range(problem.updates)]
        self.batches = torch.cat(parts).to(device)
        number = torch.arange(1, problem.updates + 1, dtype=torch.float64)
        correction1, correction2 = 1 - BETA1 ** number, 1 - BETA2 ** number
        self.rates = (RATE * correction2.sqrt() / correction1).tolist()
        self.epsilons = (EPSILON * correction2.sqrt()).tolist()


def adam(flat, gradient, first, second, rate, epsilon):
    """One step over [policies, numbers], gradients shortened policy by policy. `rate` and `epsilon`
    are numbers, or tensors where the step is captured."""
    norm = gradient.norm(dim=1, keepdim=True)
    gradient = gradient * (LONGEST / (norm + 1e-6)).clamp(max=1.0)
    first.lerp_(gradient, 1 - BETA1)
    second.mul_(BETA2).addcmul_(gradient, gradient, value=1 - BETA2)
    flat.sub_(rate * (first / second.sqrt().add_(epsilon)))


def train_batched(t):
    flat = t.start.flat.clone().requires_grad_()
    first, second = torch.zeros_like(flat), torch.zeros_like(flat)
    for i in range(t.problem.updates):
        index = t.batches[i].long()
        loss = -batched_log_density(t.start.layers(flat), *t.gather(index)).mean(1).sum()
        gradient, = torch.autograd.grad(loss, flat)
        with torch.no_grad():
            adam(flat, gradient, first, second, t.rates[i], t.epsilons[i])
    return flat.detach()


def train_separate(t, policies=None):
    """Policy after policy from its first to its last update, so that it stays in the cache."""
    result = []
    for s in policies or range(t.problem.policies):
        flat = t.start.flat[s:s + 1].clone().requires_grad_()
        first, second = torch.zeros_like(flat), torch.zeros_like(flat)
        for i in range(t.problem.updates):
            index = t.batches[i, s].long()
            own = [p[0] for p in t.start.layers(flat)]
            loss = -single_log_density(own, *t.gather(index)).mean()
            gradient, = torch.autograd.grad(loss, flat)
            with torch.no_grad():
                adam(flat, gradient, first, second, t.rates[i], t.epsilons[i])
        result.append(flat.detach())
    return torch.cat(result)


class CapturedTraining:
    """The batched step as a CUDA graph; what changes from step to step is read by a counter that
    lies on the device."""

    def __init__(self, t, compiled):
        self.t = t
        self.flat = t.start.flat.clone().requires_grad_()
        self.first, self.second = torch.zeros_like(self.flat), torch.zeros_like(self.flat)
        self.number = torch.zeros(1, dtype=torch.int64, device=t.device)
        self.rates = torch.tensor(t.rates, device=t.device, dtype=torch.float32)
        self.epsilons = torch.tensor(t.epsilons, device=t.device, dtype=torch.float32)
        self.density = torch.compile(batched_log_density) if compiled else batched_log_density
        self.adam = torch.compile(adam) if compiled else adam
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.step()
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.step()

    def step(self):
        t = self.t
        index = t.batches.index_select(0, self.number)[0].long()
        scores = self.density(t.start.layers(self.flat), *t.gather(index))
        gradient, = torch.autograd.grad(-scores.mean(1).sum(), self.flat)
        with torch.no_grad():
            self.adam(self.flat, gradient, self.first, self.second, self.rates[self.number],
                      self.epsilons[self.number])
            self.number.add_(1)

    def __call__(self, t):
        with torch.no_grad():
            self.flat.copy_(t.start.flat)
            for tensor in (self.first, self.second, self.number):
                tensor.zero_()
        for _ in range(t.problem.updates):
            self.graph.replay()
        return self.flat.detach()


class Processes:
    """Shares of a list of jobs, each done by a process of its own on one thread."""

    cpu = 0.0  # seconds of the last call

    def __init__(self, do, jobs, count):
        torch.set_num_threads(1)
        self.pipes = []
        fork = multiprocessing.get_context("fork")
        for share in (jobs[i::count] for i in range(min(count, len(jobs)))):
            here, there = fork.Pipe()
            fork.Process(target=self.work, args=(do, share, there), daemon=True).start()
            self.pipes.append(here)

    @staticmethod
    def work(do, share, pipe):
        while pipe.recv():
            result, took = turns.timed(lambda: do(share).numpy())
            pipe.send((result, took["cpu"]))

    def __call__(self):
        """Results in the order of the processes."""
        for pipe in self.pipes:
            pipe.send(True)
        done = [pipe.recv() for pipe in self.pipes]
        self.cpu = sum(cpu for _, cpu in done)
        return [torch.from_numpy(result) for result, _ in done]


def train_in_processes(t, count):
    jobs = list(range(t.problem.policies))
    processes = Processes(lambda share: train_separate(t, share), jobs, count)
    order = [s for i in range(count) for s in jobs[i::count]]

    def train(_):
        flat = torch.empty_like(t.start.flat)
        flat[order] = torch.cat(processes())
        return flat

    train.processes = processes
    return train


def cpu_of_processes(work):
    return getattr(work, "processes", Processes).cpu


def wait_for(device, result):
    if device == "cuda":
        torch.cuda.synchronize()
    return result


def m_step(problem, arguments):
    t = Training(problem, arguments.device)
    form = arguments.form
    if form in ("graph", "compiled"):
        train = CapturedTraining(t, form == "compiled")
    elif form == "processes":
        train = train_in_processes(t, arguments.threads)
    else:
        train = train_batched if form == "batched" else train_separate
    before = t.likelihood(t.start.flat)

    def turn():
        flat, took = turns.timed(lambda: wait_for(arguments.device, train(t)))
        took["cpu"] += cpu_of_processes(train)
        return {**took, "before": before, "after": t.likelihood(flat)}

    return turn, {"work": problem.updates * problem.policies * problem.batch,
                   "unit": "trained steps", "flop": problem.training_flop()}


class Scoring:
    """Σ log π of whole episodes, [episodes, policies], by blocks of about `at_once` steps."""

    def __init__(self, task, at_once):
        self.task = task
        self.policies, self.length = task.problem.policies, task.problem.length
        self.per_block = max(1, at_once // self.length)
        self.layers = [layer.contiguous() for layer in task.start.layers(task.start.flat)]
        # The first layer of all policies is one product.
        self.wide = self.layers[0].transpose(0, 1).reshape(problems.INPUTS, -1)
        self.wide_bias = self.layers[1].reshape(-1)
        self.heads = torch.cat([self.layers[4], self.layers[6]], 2)
        self.head_bias = torch.cat([self.layers[5], self.layers[7]], 2)
        self.single = [[layer[s] for layer in self.layers] for s in range(self.policies)]

    def batched(self, x, actions):
        h = torch.addmm(self.wide_bias, x, self.wide).relu_()
        h = h.view(len(x), self.policies, -1).transpose(0, 1)
        h = torch.baddbmm(self.layers[3], h, self.layers[2]).relu_()
        mean, raw = torch.baddbmm(self.head_bias, h, self.heads).split(problems.ACTIONS, 2)
        return log_density(mean, raw, actions)

    def separate(self, x, actions):
        return torch.stack([single_log_density(own, x, actions) for own in self.single])

    @torch.inference_mode()
    def scores(self, episodes, of_block):
        """Of episodes [begin, end)."""
        parts = []
        for first in range(episodes[0], episodes[1], self.per_block):
            last = min(first + self.per_block, episodes[1])
            steps = slice(first * self.length, last * self.length)
            scores = of_block(self.task.observations[steps], self.task.actions[steps])
            parts.append(scores.view(self.policies, last - first, self.length).sum(2).t())
        return torch.cat(parts)


def score_in_processes(scoring, episodes, count):
    cuts = [episodes * i // count for i in range(count + 1)]
    processes = Processes(lambda share: scoring.scores(share[0], scoring.separate),
                          list(zip(cuts, cuts[1:])), count)

    def score():
        return torch.cat(processes())

    score.processes = processes
    return score


def score_by_graph(scoring, episodes):
    scoring.scores((0, episodes), scoring.batched)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kept = scoring.scores((0, episodes), scoring.batched)

    def score():
        graph.replay()
        return kept

    return score


def e_step(problem, arguments):
    scoring = Scoring(Task(problem, arguments.device),
                      arguments.at_once or SCORED_AT_ONCE[arguments.device])
    form = arguments.form
    if form == "processes":
        score = score_in_processes(scoring, problem.episodes, arguments.threads)
    elif form == "graph":
        score = score_by_graph(scoring, problem.episodes)
    else:
        of_block = scoring.separate if form == "separate" else scoring.batched
        if form == "compiled":
            of_block = torch.compile(of_block)
        score = lambda: scoring.scores((0, problem.episodes), of_block)

    def turn():
        scores, took = turns.timed(lambda: wait_for(arguments.device, score()))
        took["cpu"] += cpu_of_processes(score)
        return {**took, "after": scores.double().sum().item() / (problem.steps * problem.policies)}

    return turn, {"work": problem.steps * problem.policies, "unit": "policy-steps",
                   "flop": problem.scoring_flop()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("row", choices=["m-step", "e-step"])
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--form", default="batched", 
                        choices=["batched", "separate", "processes", "graph", "compiled"])
    parser.add_argument("--threads", type=int, default=0, help="of the CPU; 0: PyTorch's choice")
    parser.add_argument("--at-once", type=int, default=0, help="steps scored at once; 0: by the device")
    parser.add_argument("--float32", action="store_true", help="no TF32 on a GPU")
    parser.add_argument("--as-installed", action="store_true",
                        help="says that nobody chose threads or kernels for it; changes nothing")
    problems.add_arguments(parser)
    turns.add_arguments(parser)
    arguments = parser.parse_args()
    who = f"{WHO}, {arguments.form}" + ", as installed" * arguments.as_installed
    if arguments.device == "cuda" and not torch.cuda.is_available():
        turns.absent(who, "no CUDA device")
    if arguments.form in ("graph", "compiled") and arguments.device != "cuda":
        sys.exit("torch_policies.py: graphs and compiled programs are for --device cuda")
    if arguments.form == "processes" and (arguments.device != "cpu" or arguments.threads < 1):
        sys.exit("torch_policies.py: processes are for the CPU, and as many as --threads says")
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    torch.backends.cuda.matmul.allow_tf32 = not arguments.float32
    problem = problems.from_arguments(arguments)
    data = problem.checksum()
    turn, work = {"m-step": m_step, "e-step": e_step}[arguments.row](problem, arguments)
    shape = problem.shape if arguments.row == "m-step" else f"{problem.policies}x{problem.steps}"
    device = torch.cuda.get_device_name() if arguments.device == "cuda" else "cpu"
    turns.take(arguments, {"row": arguments.row, "shape": shape, "who": who, "device": device,
                           "data": data, "versions": {"torch": torch.__version__,
                                                      "threads": torch.get_num_threads()}, **work}, turn)


if __name__ == "__main__":
    main()
