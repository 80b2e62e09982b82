"""One process can hold one LibTorch: two define the same symbols, and crash.

Kindred loads its own when it first needs one, and refuses to where another is loaded already.
"""
from __future__ import annotations

import importlib.abc
import importlib.machinery
import pathlib
import sys
from collections.abc import Sequence
from types import ModuleType


def loaded_torches() -> list[str]:
    """The files of LibTorch that this process has mapped, each once."""
    try:
        lines = pathlib.Path("/proc/self/maps").read_text().splitlines()
    except OSError:
        return []
    files = {line.split()[-1] for line in lines if "libtorch_cpu" in line}
    return sorted(str(pathlib.Path(file).resolve()) for file in files)


def keep_one_torch() -> None:
    """Once Kindred has loaded its LibTorch another torch is refused too: importing it would crash."""
    sys.meta_path.insert(0, _TorchFinder())


class _TorchFinder(importlib.abc.MetaPathFinder):
    """Finds torch as Python does, but so that importing one of another LibTorch raises ImportError."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != "torch":
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        if spec is None or spec.origin is None:
            return None
        library = pathlib.Path(spec.origin).parent / "lib" / "libtorch_cpu.so"
        own = loaded_torches()
        if not own or not library.exists() or str(library.resolve()) in own:
            return None
        spec.loader = _Refusal(
            f"torch is of the LibTorch in {library}, but this process has loaded kindred with that in "
            f"{own[0]}; one process can hold only one. Build kindred against that torch (docs/python.md)"
        )
        return spec


class _Refusal(importlib.abc.Loader):
    def __init__(self, sentence: str) -> None:
        self._sentence = sentence

    def exec_module(self, module: ModuleType) -> None:
        raise ImportError(self._sentence, name="torch")
