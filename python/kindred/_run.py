"""A finished run: the folder the program writes, and what is in it."""
from __future__ import annotations

import json
import os
import pathlib
import tempfile
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kindred import _core
from kindred._data import Array, Dataset

if TYPE_CHECKING:
    import pandas


class Policy:
    """The policy behind one cluster."""

    def __init__(self, run: Run, cluster: int, discrete: bool) -> None:
        self._owner = run  # keeps its files
        self._run = run._core
        self._cluster = cluster
        self._discrete = discrete

    def __repr__(self) -> str:
        return f"<kindred.Policy of cluster {self._cluster}>"

    def distribution(self, observations: npt.ArrayLike) -> Any:
        """Chances [n, actions] of discrete actions; else means and deviations, each [n, numbers]."""
        rows = np.ascontiguousarray(np.atleast_2d(np.asarray(observations)), dtype=np.float32)
        result = self._run.distribution(self._cluster, rows)
        return result if self._discrete else (result[:, 0], result[:, 1])

    def act(self, observations: npt.ArrayLike) -> Array:
        """The most likely action of each observation [n, obs_dim], or of one [obs_dim]."""
        result = self.distribution(observations)
        actions: Array = result.argmax(1) if self._discrete else result[0]
        return actions[0] if np.ndim(observations) == 1 else actions

    def to_torch(self) -> Any:
        """A TorchScript module with forward, act and sample. Needs a torch that is Kindred's own."""
        with tempfile.TemporaryDirectory() as folder:
            self._run.export(os.path.join(folder, "policies"))
            import torch

            return torch.jit.load(os.path.join(folder, "policies", f"policy_{self._cluster}.pt"))


class Run:
    """A run folder. What is not said here is in ``run.record``, as the program wrote it."""

    def __init__(self, folder: str | os.PathLike[str], data: Dataset | None = None, home: Any = None) -> None:
        self._home = home  # whatever removes the folder when nobody needs it any more
        self._core = _core.Run(os.fspath(folder))
        self._data = data
        self.folder = pathlib.Path(folder)
        self.record: dict[str, Any] = json.loads((self.folder / "run.json").read_text(encoding="utf-8"))

    def __repr__(self) -> str:
        return f"<kindred.Run {self.folder}: {self.record['method']}, {self.n_clusters} clusters>"

    @property
    def n_clusters(self) -> int:
        return int(self.record["result"]["k"])

    @property
    def labels(self) -> Array:
        return self._core.labels().astype(np.int64)

    @property
    def margins(self) -> Array:
        """How sure each label is."""
        return self._core.margins()

    @property
    def verdict(self) -> str:
        """'unique', 'several', 'unstable' or 'single': how far other starts agree."""
        return str(self.record["result"]["agreement"]["verdict"])

    @property
    def score_curve(self) -> list[dict[str, Any]]:
        """For each number of clusters that was looked at: V, gain, pairs that differ, and how surely all conflict."""
        return list(self.record["result"].get("considered", []))

    @property
    def k_least(self) -> int | None:
        """The fewest policies that explain the data; None where the method did not look for conflicts."""
        least: int | None = self.record["result"].get("k_least")
        return least

    @property
    def k_most(self) -> int | None:
        """The groups told apart if those that never met, or met too little to tell, are different policies."""
        most: int | None = self.record["result"].get("k_most")
        return most

    @property
    def sure(self) -> bool | None:
        """Whether nothing about the number of policies is undecided."""
        sure: bool | None = self.record["result"].get("sure")
        return sure

    @property
    def doubt(self) -> str | None:
        """Why the number of policies is not sure, in words; empty where it is."""
        doubt: str | None = self.record["result"].get("doubt")
        return doubt

    @property
    def pairs(self) -> list[dict[str, Any]]:
        """For every two clusters: 'different', 'same', 'never met' or 'undecided', and the evidence."""
        return list(self.record["result"].get("pairs", []))

    @property
    def alternatives(self) -> list[Array]:
        """Labels of the other answers that predict as well."""
        others = self.record["result"].get("alternatives", [])
        return [self._core.labels_of_alternative(i + 2).astype(np.int64) for i in range(len(others))]

    @property
    def policies(self) -> list[Policy]:
        """The policy behind each cluster; none where the method's centres cannot act."""
        if not self._core.can_act:
            return []
        discrete = self.record["dataset"]["action"]["kind"] == "discrete"
        return [Policy(self, i, discrete) for i in range(self.n_clusters)]

    def transform(self, data: Dataset, n_jobs: int = 0) -> Array:
        """[episodes, k]: how well each centre explains each episode."""
        return self._core.score(data._core, n_jobs)

    def assign(self, data: Dataset, false_alarms: float = 0.01, n_jobs: int = 0) -> dict[str, Array]:
        """Labels of new episodes, how sure they are, and which fit none of the policies."""
        names = ("labels", "margins", "fits", "posteriors", "surprises", "misfit")
        found = dict(zip(names, self._core.assign(data._core, false_alarms, n_jobs), strict=True))
        found["labels"] = found["labels"].astype(np.int64)
        found["fits"] = found["fits"].astype(bool)
        return found

    def report(self, path: str | os.PathLike[str] | None = None) -> Any:
        """The page that shows the run: inline in a notebook, else a file, whose path is returned."""
        page = self._core.report(self._data._core if self._data is not None else None)
        if path is None and _in_notebook():
            from IPython.display import HTML

            escaped = page.replace("&", "&amp;").replace('"', "&quot;")
            return HTML(f'<iframe srcdoc="{escaped}" width="100%" height="800" style="border:0"></iframe>')
        target = pathlib.Path(path) if path is not None else self.folder / "report.html"
        target.write_text(page, encoding="utf-8")
        return str(target)

    def to_pandas(self) -> pandas.DataFrame:
        """A row per episode: id, label, margin and, where the data is at hand, length and return."""
        import pandas as pd

        columns: dict[str, Any] = {"episode": self._core.episodes, "label": self.labels, "margin": self.margins}
        data = self._data
        if data is not None:
            columns["length"] = data.lengths
            if data.returns is not None:
                columns["return"] = data.returns
            if data.labels is not None:
                columns["truth"] = data.labels
        return pd.DataFrame(columns)


def open_run(folder: str | os.PathLike[str]) -> Run:
    """A run that the program or an estimator wrote; its dataset is read where it still is."""
    run = Run(folder)
    described = run.record["dataset"]
    files = described.get("files", [described["path"]])
    if all(os.path.exists(file) for file in files):
        run._data = Dataset(_core.load(files, json.dumps(described["reading"])))
    return run


def _in_notebook() -> bool:
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    shell = get_ipython()
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"
