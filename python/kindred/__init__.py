"""Which trajectories of an offline-RL dataset were produced by the same policy?

>>> data = kindred.load("hopper.hdf5")
>>> model = kindred.PGKMeans(random_state=0)
>>> labels = model.fit_predict(data)
"""
from typing import TYPE_CHECKING, Any

from kindred import _core
from kindred._data import Dataset, from_arrays, load
from kindred._fit import cluster
from kindred._ranks import Ranks
from kindred._run import Policy, Run, open_run
from kindred._segments import Segments, segment
from kindred._torch import keep_one_torch
from kindred._versions import show_versions

if TYPE_CHECKING:
    from kindred._methods import CAAE, DEC, SORL, VQVAE, PGKMeans, PolicySearch, ReturnKMeans, VAEKMeans

keep_one_torch()

__version__: str = _core.version

__all__ = [
    "CAAE",
    "DEC",
    "SORL",
    "VQVAE",
    "Dataset",
    "PGKMeans",
    "PolicySearch",
    "Policy",
    "Ranks",
    "ReturnKMeans",
    "Run",
    "Segments",
    "VAEKMeans",
    "cluster",
    "from_arrays",
    "load",
    "open_run",
    "segment",
    "show_versions",
]


def __getattr__(name: str) -> Any:
    """Estimators when they are first named: they bring scikit-learn, a second and 115 MB."""
    if name not in __all__:
        raise AttributeError(f"module 'kindred' has no attribute '{name}'")
    from kindred import _methods

    return getattr(_methods, name)


def __dir__() -> list[str]:
    return sorted(__all__)
