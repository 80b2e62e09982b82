"""Fitting: the program's methods, without an estimator around them."""
from __future__ import annotations

import json
import os
import pathlib
import shutil
import tempfile
import weakref
from collections.abc import Callable
from typing import Any

from kindred import _core
from kindred._data import Dataset, load
from kindred._ranks import meeting_of
from kindred._run import Run

#: Called with what is being done, the round, the most rounds (0: unknown) and the share that is done.
ProgressCallback = Callable[[str, int, int, float], None]

_TO_STOP = 60.0  # seconds: it takes one, unless it waits for another process


def cluster(
    data: Any,
    method: str = "pg-kmeans",
    *,
    preset: str | None = None,
    run: str | os.PathLike[str] | None = None,
    resume: bool = False,
    force: bool = False,
    n_jobs: int | None = None,
    device: str = "cpu",
    progress: bool | ProgressCallback = False,
    communicator: Any = None,
    **options: Any,
) -> Run:
    """What `kindred cluster` does, without scikit-learn: clusters whatever `load` takes.

    Options are those of `kindred cluster --method METHOD --help`, with underscores: ``cluster(data,
    "caae", k=4, seed=1)``. `run` is where to keep the run's folder; without it the folder lives as
    long as what is returned. `force` replaces a finished run that is there. `communicator` names the
    processes that share the fit, each of which calls this with the same arguments: 'torch' or a group of
    torch.distributed's, 'env' for what torchrun, srun or mpirun started, or a `Ranks`. All get the same
    run; `run` is the first one's folder, and the others have theirs for as long as what is returned.
    """
    named = {name.replace("_", "-"): value for name, value in options.items()}
    return fit(
        load(data),
        method,
        named,
        preset=preset,
        run=run,
        resume=resume,
        force=force,
        n_jobs=n_jobs,
        device=device,
        progress=progress,
        communicator=communicator,
    )


def fit(
    data: Dataset,
    method: str,
    options: dict[str, Any],
    *,
    preset: str | None,
    run: str | os.PathLike[str] | None,
    resume: bool,
    force: bool,
    n_jobs: int | None,
    device: str,
    progress: bool | ProgressCallback,
    communicator: Any,
) -> Run:
    """Fits on a thread of its own and waits; whatever is raised meanwhile, Ctrl-C too, ends the fit."""
    meeting = meeting_of(communicator)
    if meeting is not None and meeting.rank > 0:  # the folder and the bar are the first one's
        run, progress = None, progress is not True and progress
    home = _TemporaryFolder() if run is None else None
    folder = os.path.join(home.path, "run") if home else os.fspath(run or "")
    job = _core.Job(
        data._core, method, json.dumps(options), preset or "", folder, threads(n_jobs), device, resume, force, meeting
    )
    wait_for(job, progress)
    if job.result() == "stopped":
        raise KeyboardInterrupt
    return Run(folder, data, home)


def wait_for(job: _core.Job | _core.SegmentJob, progress: bool | ProgressCallback) -> None:
    """Until it ends; whatever is raised meanwhile, Ctrl-C too, ends it."""
    try:
        with _Watcher(progress) as watcher:
            while not job.wait(0.1):
                watcher.show(*job.progress()[:4])
    except BaseException:
        job.stop()
        job.wait(_TO_STOP)
        raise


def threads(n_jobs: int | None) -> int:
    return 0 if n_jobs is None or n_jobs < 0 else int(n_jobs)


class _TemporaryFolder:
    """A folder that is removed with its last owner: the run in it, or a fit that failed."""

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp(prefix="kindred-")
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def run_of(files: dict[str, bytes]) -> Run:
    """A run that was pickled with its files."""
    home = _TemporaryFolder()
    for name, content in files.items():
        pathlib.Path(home.path, name).write_bytes(content)
    return Run(home.path, home=home)


class _Watcher:
    """Shows how far a fit is: a tqdm bar, somebody's own callback, or nothing."""

    def __init__(self, progress: bool | ProgressCallback) -> None:
        self._callback = progress if callable(progress) else None
        self._bar: Any = None
        if progress is True:
            from tqdm.auto import tqdm

            self._bar = tqdm(total=100, leave=False, bar_format="{l_bar}{bar}| {elapsed}")

    def __enter__(self) -> _Watcher:
        return self

    def __exit__(self, *_: Any) -> None:
        if self._bar is not None:
            self._bar.close()

    def show(self, stage: str, iteration: int, most: int, fraction: float) -> None:
        if self._callback is not None:
            self._callback(stage, iteration, most, fraction)
        elif self._bar is not None:
            done = (max(iteration - 1, 0) + fraction) / most if most > 0 else fraction
            self._bar.set_description(f"{stage} {iteration}" if iteration else stage or "starting")
            self._bar.n = round(100 * min(done, 1.0))
            self._bar.refresh()
