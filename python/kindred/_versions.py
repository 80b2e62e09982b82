"""What a report of a problem needs to say."""
import importlib.metadata
import platform
import sys

from kindred import _core
from kindred._torch import loaded_torches


def show_versions() -> None:
    """Prints the versions of Kindred and of what it works with."""
    rows = [
        ("kindred", _core.version),
        ("python", sys.version.split()[0]),
        ("system", platform.platform()),
        ("LibTorch", f"{_core.torch_version} ({', '.join(loaded_torches()) or 'not loaded'})"),
    ]
    for name in ("numpy", "scikit-learn", "pandas", "tqdm", "minari", "d3rlpy", "torch"):
        try:
            rows.append((name, importlib.metadata.version(name)))
        except importlib.metadata.PackageNotFoundError:
            rows.append((name, "not installed"))
    for name, value in rows:
        print(f"{name:>14}  {value}")
