"""The processes that share a fit: which this one is, and where they find each other."""
from __future__ import annotations

import dataclasses
import functools
import os
import socket
import sys
from types import ModuleType
from typing import Any

from kindred import _core


@dataclasses.dataclass
class Ranks:
    """One of several processes that share fits, where no torch.distributed knows them: Dask's, Ray's, your own.

    All are given the same `size` and `address`, ``"host:port"``, where rank 0 listens; `patience` is how many
    seconds a silent process is waited for. One object serves fits one after the other.
    """

    rank: int
    size: int
    address: str
    patience: float = 20.0
    _meeting: _core.Meeting | None = dataclasses.field(default=None, init=False, repr=False, compare=False)

    def __deepcopy__(self, _: Any) -> Ranks:
        return self  # scikit-learn's clone: the same processes

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_meeting": None}

    def meeting(self) -> _core.Meeting:
        if self.rank < 0:
            raise ValueError(f"rank is {self.rank}; ranks are numbered from 0")
        if self._meeting is None:
            self._meeting = _meet(self.rank, self.size, self.address, self.patience)
        return self._meeting


@functools.cache
def _started() -> _core.Meeting:
    """Those that torchrun, srun or mpirun started."""
    return _meet(-1, 0, "", 20.0)


def meeting_of(communicator: Any) -> _core.Meeting | None:
    """Where the processes that share the next fit find each other; None where there is but this one."""
    meeting = _named(communicator)
    return meeting if meeting is not None and meeting.size > 1 else None


def _named(communicator: Any) -> _core.Meeting | None:
    if communicator is None:
        return None
    if isinstance(communicator, Ranks):
        return communicator.meeting()
    if isinstance(communicator, str):
        if communicator == "env":
            return _started()
        if communicator == "torch":
            return _through_torch(None)
    elif isinstance(communicator, ModuleType):
        if communicator.__name__ == "torch.distributed":
            return _through_torch(None)
    elif type(communicator).__module__.startswith("torch."):
        return _through_torch(communicator)
    raise ValueError(
        f"communicator is {communicator!r}; it can be None, 'torch', a group of torch.distributed's, 'env' or kindred.Ranks"
    )


def _through_torch(group: Any) -> _core.Meeting | None:
    """Through the user's group the ranks agree on where Kindred's own listens: tensors need not cross."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        raise ValueError("torch.distributed has no process group yet; call torch.distributed.init_process_group first")
    rank, size = distributed.get_rank(group), distributed.get_world_size(group)
    if rank < 0:
        raise ValueError("this process is not in the group that communicator names; leave it out of the fit")
    if size == 1:
        return None
    everybody: list[Any] = [None] * size
    own = (socket.gethostname(), os.environ.get("MASTER_ADDR") if group is None else None, _free_port())
    distributed.all_gather_object(everybody, own, group=group)
    host, reached, port = everybody[0]
    if all(other[0] == host for other in everybody):
        reached = "127.0.0.1"
    return _meet(rank, size, f"{reached or host}:{port}", 20.0)


def _meet(rank: int, size: int, address: str, patience: float) -> _core.Meeting:
    if "torch" not in sys.modules:  # what matters is said in our words, once
        os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "FATAL")
        os.environ.setdefault("GLOG_minloglevel", "3")
    return _core.Meeting(rank, size, address, patience, dict(os.environ))


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("", 0))
        port: int = one.getsockname()[1]
        return port
