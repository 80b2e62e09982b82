"""Who acted when: policies that take turns within episodes."""
from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kindred import _core
from kindred._data import Array, Dataset, load
from kindred._fit import ProgressCallback, threads, wait_for

if TYPE_CHECKING:
    import pandas


class Segments:
    """Stretches of episodes in which one policy acts."""

    def __init__(self, data: Dataset, job: _core.SegmentJob) -> None:
        #: Number of policies and switches, their rate per step, and held-out scores.
        self.result: dict[str, Any] = json.loads(job.result())
        #: [steps]: who acts.
        self.actors: Array = job.actors()
        #: [steps]: the chance that the actor is right.
        self.chances: Array = job.chances()
        names = ("episode", "start", "end", "policy", "earliest", "latest")
        #: [segments] each: the episode's number, steps [start, end), the policy, how likely that is, and
        #: between which steps the switch before it lies with a chance of 90 %.
        self.columns: dict[str, Array] = dict(zip(names, job.columns(), strict=True))
        self.columns["posterior"] = job.posteriors()
        #: [candidates] each: an unsure stretch, a policy that may have acted in it, how likely that is, and
        #: the first and last step at which it may.
        unsure = (*names[:4], "first", "last")
        self.unsure_columns: dict[str, Array] = dict(zip(unsure, job.unsure_columns(), strict=True))
        self.unsure_columns["posterior"] = job.unsure_posteriors()
        self._ids = data.ids

    def __len__(self) -> int:
        return len(self.columns["start"])

    def __repr__(self) -> str:
        return f"<kindred.Segments: {len(self)} of {self.n_policies} policies, {self.switches} switches>"

    @property
    def n_policies(self) -> int:
        return int(self.result["k"])

    @property
    def switches(self) -> int:
        """How often somebody takes over within an episode."""
        return int(self.result["switches"])

    @property
    def frame(self) -> pandas.DataFrame:
        """A row per segment, as in segments.csv: the episode by its name."""
        return self._frame(self.columns, "earliest", "latest")

    @property
    def unsure(self) -> pandas.DataFrame:
        """Where others may have acted, as in unsure.csv: a row per stretch and policy."""
        return self._frame(self.unsure_columns, "first", "last")

    def _frame(self, columns: dict[str, Array], *more: str) -> pandas.DataFrame:
        import pandas as pd

        order = ("episode", "start", "end", "policy", "posterior", *more)
        named: dict[str, Any] = {name: columns[name] for name in order}
        named["episode"] = [self._ids[i] for i in columns["episode"]]
        return pd.DataFrame(named)


def segment(
    data: Any,
    k: int | None = None,
    *,
    k_max: int = 6,
    window: int = 0,
    seed: int = 0,
    known: npt.ArrayLike | None = None,
    n_jobs: int | None = None,
    progress: bool | ProgressCallback = False,
) -> Segments:
    """What `kindred segment` does: who acted when in whatever `load` takes.

    `k` is the number of policies, found where it is not given, and at most `k_max` then; `window` the
    steps of a first guess, 0: by the data. `known` are labels of episodes, as those of a fit, from whose
    policies to start.
    """
    episodes = load(data)
    options: dict[str, Any] = {"k": k or "auto", "k-max": k_max, "window": window, "seed": seed}
    labels = [] if known is None else episodes._labels(known).tolist()
    if labels and min(labels) < 0:
        raise ValueError(f"known labels are numbers of policies from 0 on; {min(labels)} is below")
    job = _core.SegmentJob(episodes._core, json.dumps(options), labels, threads(n_jobs))
    wait_for(job, progress)
    return Segments(episodes, job)
