#!/usr/bin/env python3
"""The trajectory autoencoder as a strong PyTorch program: nn.GRU, autograd, Adam.

  torch_autoencoder.py encoder|caae [--device cuda] [--form packed|padded|graph] [--batch 64]
                       [--longest 200] [--updates 8] [--threads 2] [--repeat 3]

`encoder`: the encoder of a batch forward, and backward from the mean of its squared features.
`caae`: a whole update of CAAE, decoder, attraction to centroids, clipped gradient and Adam included;
every turn starts over from the same parameters.

Forms: `packed`, sequences as PackedSequence, nothing padded; `padded`, every sequence as long as its
batch's longest; `graph`, the padded update of each batch captured as a CUDA graph. Batches lie on the
device before the clock starts. Prints lines of JSON (see scripts/bench).
"""
import argparse
import copy
import math
import sys

import problem as problems
import turns

WHO = "PyTorch"
try:
    import torch
    from torch import nn
    from torch.nn import functional as F
    from torch.nn.utils import rnn
except ImportError as error:
    turns.absent(WHO, str(error))

RATE, LONGEST = 1e-3, 0.5
HEADS, HEAD_SIZE, MEMORY = 2, 8, 64


def linear(weight, bias=None):
    """A layer with these numbers; ours are [inputs, outputs]."""
    layer = nn.Linear(*weight.shape, bias=bias is not None)
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(weight.T.copy()))
        if bias is not None:
            layer.bias.copy_(torch.from_numpy(bias[0]))
    return layer


class Batch:
    """Some episodes on the device, packed (time-major, nothing padded) or padded."""

    def __init__(self, sequences, episodes, packed, device):
        lengths = torch.from_numpy(sequences.lengths[episodes])
        cut = [slice(sequences.offsets[e], sequences.offsets[e + 1]) for e in episodes]
        rows = [torch.from_numpy(sequences.observations[c]) for c in cut]
        moves = [torch.from_numpy(sequences.actions[c]) for c in cut]
        x, actions = (rnn.pad_sequence(r, batch_first=True) for r in (rows, moves))
        inside = torch.arange(x.shape[1])[None] < lengths[:, None]
        self.shape = inside.shape
        if packed:
            # Where each packed step lies in the padded batch; the attention looks at all of one.
            pack = rnn.pack_padded_sequence(torch.arange(inside.numel()).view(self.shape), lengths,
                                            batch_first=True)
            self.sizes, self.place = pack.batch_sizes, pack.data.to(device)
            self.x, self.actions = (r.flatten(0, 1)[pack.data].to(device) for r in (x, actions))
            self.sequence = (pack.data // x.shape[1]).to(device)
        else:
            self.sizes, self.x, self.actions = None, x.to(device), actions.to(device)
        self.pairs = torch.cat([self.x, self.actions], -1)
        self.outside = ~inside.to(device)


class Autoencoder(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.steps = nn.Sequential(linear(p["step1"], p["step1_bias"]), nn.ReLU(inplace=True),
                                   linear(p["step2"], p["step2_bias"]), nn.ReLU(inplace=True))
        self.gru = nn.GRU(p["step2"].shape[1], MEMORY, batch_first=True)
        with torch.no_grad():
            for name, ours in (("weight_ih_l0", "gru_input"), ("weight_hh_l0", "gru_recurrent"),
                               ("bias_ih_l0", "gru_input_bias"), ("bias_hh_l0", "gru_recurrent_bias")):
                value = torch.from_numpy(p[ours].T.copy() if "weight" in name else p[ours][0])
                getattr(self.gru, name).copy_(value)
        self.prefix = nn.Sequential(linear(p["prefix"], p["prefix_bias"]), nn.ReLU(inplace=True))
        self.keys_values = linear(p["keys_values"])
        self.queries = nn.Parameter(torch.from_numpy(p["queries"]).view(HEADS, HEAD_SIZE))
        self.from_features = linear(p["from_features"])
        self.from_observation = linear(p["from_observation"], p["decoder1_bias"])
        self.decoder = nn.Sequential(nn.ReLU(inplace=True), linear(p["decoder2"], p["decoder2_bias"]),
                                     nn.ReLU(inplace=True), linear(p["decoder3"], p["decoder3_bias"]),
                                     nn.ReLU(inplace=True))
        self.mean, self.raw = (linear(p[n], p[n + "_bias"]) for n in ("mean", "deviation"))
        self.centroids = nn.Parameter(torch.from_numpy(p["centroids"]).clone())

    def encode(self, b):
        x = self.steps(b.pairs)
        if b.sizes is not None:
            x = self.gru(rnn.PackedSequence(x, b.sizes))[0].data
        else:
            x = self.gru(x)[0]
        x = self.keys_values(self.prefix(x)).unflatten(-1, (2, HEADS, HEAD_SIZE))
        keys, values = x.unbind(-3)
        scores = (keys * self.queries).sum(-1)
        if b.sizes is None:
            weights = scores.masked_fill(b.outside[..., None], -1e30).softmax(1)
            return (weights[..., None] * values).sum(1).flatten(1)
        # A softmax over each sequence's steps, which lie apart.
        padded = scores.new_full((b.outside.numel(), HEADS), -1e30).index_copy(0, b.place, scores)
        weights = padded.view(*b.shape, HEADS).softmax(1).view(-1, HEADS)[b.place]
        zeros = scores.new_zeros(b.shape[0], HEADS, HEAD_SIZE)
        return zeros.index_add(0, b.sequence, weights[..., None] * values).flatten(1)

    def log_likelihood(self, z, b):
        """Mean over sequences of Σ log p(a|z, s)."""
        from_z = self.from_features(z)
        from_z = from_z[:, None] if b.sizes is None else from_z[b.sequence]
        x = self.decoder(self.from_observation(b.x) + from_z)
        mean, deviation = self.mean(x), F.softplus(self.raw(x)) + 1e-5
        scaled = (b.actions - mean) / deviation
        log_probs = (-0.5 * scaled.square() - deviation.log() - 0.5 * math.log(2 * math.pi)).sum(-1)
        if b.sizes is None:
            log_probs = log_probs.masked_fill(b.outside, 0.0)
        return log_probs.sum() / b.shape[0]

    def caae_loss(self, b):
        z = self.encode(b)
        attraction = (z[:, None] - self.centroids).square().sum(-1).min(1)[0].mean()
        apart = (self.centroids[:, None] - self.centroids).square().sum(-1).clamp(max=1.0).mean()
        return -self.log_likelihood(z, b) + attraction - apart


def wait_for(device):
    if device == "cuda":
        torch.cuda.synchronize()


def encoder(model, batches, arguments):
    parameters = list(model.parameters())

    def work():
        for i in range(arguments.updates):
            loss = model.encode(batches[i % len(batches)]).square().mean()
            gradients = torch.autograd.grad(loss, parameters, allow_unused=True)
        wait_for(arguments.device)
        return gradients

    def turn():
        gradients, took = turns.timed(work)
        squares = sum(g.double().square().sum() for g in gradients if g is not None)
        return {**took, "before": 0.0, "after": math.sqrt(squares.item())}

    return turn


def caae(model, batches, arguments):
    start_from = copy.deepcopy(model.state_dict())
    captured = arguments.form == "graph"
    kind = {"capturable": True} if captured else {}
    parameters = list(model.parameters())
    adam = torch.optim.Adam(parameters, lr=RATE, **kind)

    def update(b):
        adam.zero_grad(set_to_none=True)
        loss = model.caae_loss(b)
        loss.backward()
        if captured:  # as clip_grad_norm_, with nothing read back
            norm = torch.stack([p.grad.norm() for p in parameters]).norm()
            scale = (LONGEST / (norm + 1e-6)).clamp(max=1.0)
            torch._foreach_mul_([p.grad for p in parameters], scale)
        else:
            nn.utils.clip_grad_norm_(parameters, LONGEST)
        adam.step()
        return loss.detach()

    def begin_again():
        model.load_state_dict(start_from)
        for state in adam.state.values():
            for value in state.values():
                if torch.is_tensor(value):
                    value.zero_()

    step = lambda i: update(batches[i % len(batches)])
    if captured:
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for b in batches:
                update(b)
        torch.cuda.current_stream().wait_stream(side)
        graphs = []
        for b in batches:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                loss = update(b)
            graphs.append((graph, loss))

        def step(i):
            graph, loss = graphs[i % len(graphs)]
            graph.replay()
            return loss

    def work():
        for i in range(arguments.updates):
            loss = step(i)
        wait_for(arguments.device)
        return loss

    def turn():
        begin_again()
        wait_for(arguments.device)
        loss, took = turns.timed(work)
        return {**took, "before": before, "after": loss.item()}

    begin_again()
    with torch.no_grad():  # of the batch that comes last
        before = model.caae_loss(batches[(arguments.updates - 1) % len(batches)]).item()
    return turn


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("row", choices=["encoder", "caae"])
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--form", default="packed", choices=["packed", "padded", "graph"])
    parser.add_argument("--threads", type=int, default=0, help="of the CPU; 0: PyTorch's choice")
    parser.add_argument("--float32", action="store_true", help="no TF32 on a GPU")
    for name, text in (("count", "episodes of the dataset"), ("longest", "steps of the longest"),
                       ("batch", "episodes of an update"), ("updates", "updates of a turn")):
        parser.add_argument(f"--{name}", type=int, default=getattr(problems.Sequences, name), help=text)
    turns.add_arguments(parser)
    arguments = parser.parse_args()
    who = f"{WHO}, {arguments.form}"
    if arguments.device == "cuda" and not torch.cuda.is_available():
        turns.absent(who, "no CUDA device")
    if arguments.form == "graph" and (arguments.device != "cuda" or arguments.row != "caae"):
        sys.exit("torch_autoencoder.py: graphs are for caae on --device cuda")
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    torch.backends.cuda.matmul.allow_tf32 = not arguments.float32
    torch.backends.cudnn.allow_tf32 = not arguments.float32
    sequences = problems.Sequences(arguments.count, arguments.longest, arguments.batch, arguments.updates)
    model = Autoencoder(sequences.parameters()).to(arguments.device)
    batches = [Batch(sequences, episodes, arguments.form == "packed", arguments.device)
               for episodes in sequences.batches()]
    work = sum(int(sequences.lengths[b].sum()) for i in range(arguments.updates)
               for b in [sequences.batches()[i % len(batches)]])
    device = torch.cuda.get_device_name() if arguments.device == "cuda" else "cpu"
    turns.take(arguments, {"row": arguments.row, "shape": f"{arguments.batch}x{arguments.longest}",
                           "who": who, "device": device, "data": sequences.checksum(),
                           "work": work, "unit": "steps",
                           "versions": {"torch": torch.__version__, "threads": torch.get_num_threads()}},
               {"encoder": encoder, "caae": caae}[arguments.row](model, batches, arguments))


if __name__ == "__main__":
    main()
