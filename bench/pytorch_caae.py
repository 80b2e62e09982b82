#!/usr/bin/env python3
"""CAAE as one writes it in PyTorch at first: padded batches, nn.GRU, autograd, Adam.

  bench/pytorch_caae.py DATA.npz --k 4 --updates 200 [--batch 64] [--device cuda]

The yardstick of scripts/compare_pytorch: the same network, loss and batch size as
`kindred cluster --method caae`, on a dataset written by `kindred generate --format npz`.
Prints one line of JSON with the seconds of one update.
"""
import argparse
import json
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


class Encoder(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.steps = nn.Sequential(nn.Linear(inputs, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU())
        self.gru = nn.GRU(128, 64, batch_first=True)
        self.prefix = nn.Sequential(nn.Linear(64, 128), nn.ReLU())
        self.keys = nn.Linear(128, 16, bias=False)
        self.values = nn.Linear(128, 16, bias=False)
        self.queries = nn.Parameter(torch.randn(2, 8) / 8 ** 0.5)

    def forward(self, x, inside):
        y = self.prefix(self.gru(self.steps(x))[0])
        keys = self.keys(y).view(*y.shape[:2], 2, 8)
        values = self.values(y).view(*y.shape[:2], 2, 8)
        scores = (keys * self.queries).sum(-1).masked_fill(~inside[..., None], -1e9)
        return (scores.softmax(1)[..., None] * values).sum(1).flatten(1)


class Decoder(nn.Module):
    def __init__(self, inputs, actions):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(16 + inputs, 128), nn.ReLU(), nn.Linear(128, 32), nn.ReLU(),
                                 nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, actions))

    def forward(self, z, x, actions):
        z = z[:, None].expand(-1, x.shape[1], -1)
        logits = self.net(torch.cat([z, x], -1))
        return F.log_softmax(logits, -1).gather(-1, actions[..., None])[..., 0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--k", type=int, default=4)
    parser.add_argument("--updates", type=int, default=200)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=0)
    args = parser.parse_args()
    if args.threads:
        torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    rng = np.random.default_rng(0)

    data = np.load(args.data)
    observations = torch.from_numpy(data["observations"]).to(args.device)
    actions = torch.from_numpy(data["actions"].astype(np.int64)).to(args.device)
    count = int(data["action_count"])
    offsets = data["offsets"]
    lengths = np.diff(offsets)

    encoder = Encoder(observations.shape[1] + count).to(args.device)
    decoder = Decoder(observations.shape[1], count).to(args.device)
    centroids = nn.Parameter(torch.randn(args.k, 16, device=args.device))
    parameters = [*encoder.parameters(), *decoder.parameters(), centroids]
    adam = torch.optim.Adam(parameters, lr=1e-3)

    def update():
        chosen = rng.choice(len(lengths), args.batch, replace=False)
        longest = lengths[chosen].max()
        times = np.arange(longest)
        steps = offsets[chosen, None] + np.minimum(times[None], lengths[chosen, None] - 1)
        inside = torch.from_numpy(times[None] < lengths[chosen, None]).to(args.device)
        index = torch.from_numpy(steps).to(args.device)
        x, a = observations[index], actions[index]
        z = encoder(torch.cat([x, F.one_hot(a, count).float()], -1), inside)
        reconstruction = -(decoder(z, x, a) * inside).sum(1).mean()
        attraction = ((z[:, None] - centroids) ** 2).sum(-1).min(1)[0].mean()
        spread = ((centroids[:, None] - centroids) ** 2).sum(-1).clamp(max=1).mean()
        loss = reconstruction + attraction - spread
        adam.zero_grad()
        loss.backward()
        adam.step()
        return loss.item()

    for _ in range(5):
        update()
    start = time.perf_counter()
    for _ in range(args.updates):
        update()
    seconds = (time.perf_counter() - start) / args.updates
    print(json.dumps({"torch": torch.__version__, "device": args.device,
                      "threads": torch.get_num_threads(), "seconds_per_update": seconds}))


if __name__ == "__main__":
    main()
