"""Which trajectories of an offline-RL dataset were produced by the same policy?

>>> data = kindred.load("hopper.hdf5")
>>> model = kindred.PGKMeans(random_state=0)
>>> labels = model.fit_predict(data)
"""
from kindred._torch import require_one_torch

require_one_torch()

from kindred import _core  # noqa: E402
from kindred._data import Dataset, from_arrays, load  # noqa: E402
from kindred._methods import (  # noqa: E402
    CAAE,
    DEC,
    SORL,
    VQVAE,
    PGKMeans,
    ReturnKMeans,
    VAEKMeans,
)
from kindred._run import Policy, Run, open_run  # noqa: E402
from kindred._versions import show_versions  # noqa: E402

__version__: str = _core.version

__all__ = [
    "CAAE",
    "DEC",
    "SORL",
    "VQVAE",
    "Dataset",
    "PGKMeans",
    "Policy",
    "ReturnKMeans",
    "Run",
    "VAEKMeans",
    "from_arrays",
    "load",
    "open_run",
    "show_versions",
]
