"""What every estimator does; the estimators themselves, one per method, are in _methods.py."""
from __future__ import annotations

import os
import pathlib
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from kindred._data import Array, Dataset, is_table, joined, load
from kindred._fit import ProgressCallback, fit, run_of, threads
from kindred._ranks import Ranks
from kindred._run import Policy, Run
from kindred._segments import segment


class Estimator(ClusterMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A method of Kindred's as a scikit-learn estimator: an item of X is an episode."""

    _method: ClassVar[str]
    _options: ClassVar[dict[str, str]]  # parameter → option of the program

    # Set by every subclass's __init__.
    n_clusters: int | None
    random_state: Any
    n_jobs: int | None
    device: str
    preset: str | None
    run: str | os.PathLike[str] | None
    resume: bool
    force: bool
    progress: bool | ProgressCallback
    communicator: Any

    def fit(self, X: Any, y: Any = None) -> Any:
        """Clusters the episodes of X: whatever kindred.load takes."""
        data = self._episodes(X, reset=True)
        run = fit(
            data,
            self._method,
            self._chosen_options(),
            preset=self.preset,
            run=self.run,
            resume=self.resume,
            force=self.force,
            n_jobs=self.n_jobs,
            device=self.device,
            progress=self.progress,
            communicator=self.communicator,
        )
        self._adopt(run)
        return self

    def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> Array:
        """Clusters the episodes of X and returns their labels."""
        self.fit(X)
        return self.labels_

    def predict(self, X: Any) -> Array:
        """The cluster whose policy explains each episode best."""
        best: Array = self.transform(X).argmax(1)
        return best

    def predict_steps(self, X: Any) -> list[Array]:
        """For each episode, the cluster whose policy acts at each of its steps.

        Policies are fitted again to what each does within episodes, starting from labels of whole ones:
        those of the fit and, of other episodes, what predict says. A model that was pickled has no other
        episodes than X to fit them to.
        """
        check_is_fitted(self)
        data = everything = self._episodes(X, reset=False)
        fitted = self.run_._data
        known = self.labels_ if data is fitted else self.predict(data)
        if fitted is not None and data is not fitted:
            everything, known = joined(fitted, data), np.concatenate([self.labels_, known])
        clusters, numbered = np.unique(known, return_inverse=True)  # X alone need not have all of them
        found = segment(everything, known=numbered, seed=self._seed(), n_jobs=self.n_jobs)
        shared = np.zeros((found.n_policies, len(clusters)), np.int64)  # steps of each with each
        np.add.at(shared, (found.actors, np.repeat(numbered, everything.lengths)), 1)
        cluster_of = clusters[linear_sum_assignment(shared, maximize=True)[1]]
        return np.split(cluster_of[found.actors[-data.steps :]], data.offsets[1:-1])

    def transform(self, X: Any) -> Array:
        """[episodes, k]: how well each cluster's centre explains each episode."""
        check_is_fitted(self)
        return self.run_.transform(self._episodes(X, reset=False), threads(self.n_jobs))

    def score(self, X: Any, y: Any = None) -> float:
        """How well the best centre of each episode explains it, per step: the higher the better."""
        check_is_fitted(self)
        data = self._episodes(X, reset=False)
        return float(self.transform(data).max(1).sum() / data.steps)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        check_is_fitted(self)
        return np.asarray([f"{type(self).__name__.lower()}{i}" for i in range(self.n_clusters_)], dtype=object)

    def _episodes(self, X: Any, reset: bool) -> Dataset:
        """A 2-D X is one-step episodes, and held to scikit-learn's rules; anything else is loaded."""
        if is_table(X):
            return load(np.asarray(validate_data(self, X, reset=reset, ensure_min_features=2 if reset else 1)))
        data = load(X)
        if reset:
            self.n_features_in_ = data.obs_dim + (1 if data.discrete else data.action_count)
        return data

    def _adopt(self, run: Run) -> None:
        self.run_ = run
        self.labels_ = run.labels
        self.n_clusters_ = run.n_clusters
        self.margin_ = run.margins
        self.score_curve_ = run.score_curve
        self.verdict_ = run.verdict
        self.alternatives_ = run.alternatives
        self.k_least_ = run.k_least
        self.k_most_ = run.k_most
        self.sure_ = run.sure
        self.doubt_ = run.doubt
        self.pairs_ = run.pairs
        self.policies_: list[Policy] = run.policies

    def _chosen_options(self) -> dict[str, Any]:
        """Those that differ from the defaults: the others are the program's own, or the preset's."""
        defaults = type(self)().get_params()
        chosen: dict[str, Any] = {}
        for parameter, option in self._options.items():
            value = getattr(self, parameter)
            if isinstance(value, np.generic):
                value = value.item()
            if parameter == "random_state":
                chosen[option] = self._seed()
            elif parameter == "n_clusters":
                if value is not None:
                    chosen[option] = value
            elif value != defaults[parameter]:
                chosen[option] = os.fspath(value) if isinstance(value, os.PathLike) else value
        return chosen

    def _seed(self) -> int:
        state = self.random_state
        if state is None:
            return 0
        if isinstance(state, (int, np.integer)):
            return int(state)
        return int(state.randint(2**31 - 1)) if hasattr(state, "randint") else int(state.integers(2**31 - 1))

    def __getstate__(self) -> dict[str, Any]:
        """A fitted model is pickled with the files of its run, and without torch's group it was fitted by."""
        state = dict(super().__getstate__())
        if not isinstance(state.get("communicator"), (str, Ranks)):
            state["communicator"] = None
        run = state.pop("run_", None)
        for derived in ("policies_",):
            state.pop(derived, None)
        if run is not None:
            state["_run_files"] = {
                file.name: file.read_bytes() for file in pathlib.Path(run.folder).iterdir() if file.is_file()
            }
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        files = state.pop("_run_files", None)
        super().__setstate__(state)
        if files is not None:
            self._adopt(run_of(files))
