"""Writes _methods.py from the methods' own option tables: `python -m kindred._generate`.

A test holds the file to what this writes, so that parameters, defaults and words are said once, in C++.
"""
from __future__ import annotations

import json
import keyword
import pathlib
import sys
import textwrap
from typing import Any

from kindred import _core

NAMES = {
    "policy-search": "PolicySearch",
    "pg-kmeans": "PGKMeans",
    "caae": "CAAE",
    "dec": "DEC",
    "vae-kmeans": "VAEKMeans",
    "vq-vae": "VQVAE",
    "sorl": "SORL",
    "return-kmeans": "ReturnKMeans",
}
PARAMETERS = {"k": "n_clusters", "seed": "random_state"}

HEAD = '''"""The estimators, one per method. Made by `python -m kindred._generate`: do not edit."""
from __future__ import annotations

import os
from typing import Any, ClassVar

from kindred._base import Estimator
from kindred._fit import ProgressCallback
'''

COMMON = [
    ("n_jobs", "int | None", None, "Threads to use; None: every core."),
    ("device", "str", "cpu", "'cpu' or 'cuda'."),
    ("run", "str | os.PathLike[str] | None", None, "Where to keep the run folder; None: for as long as the model lives."),
    ("resume", "bool", False, "Go on with what an interrupted fit left in `run`."),
    ("force", "bool", False, "Replace a finished run in `run`."),
    ("progress", "bool | ProgressCallback", False, "True: a tqdm bar; or a function of (stage, round, rounds, share)."),
    (
        "communicator",
        "Any",
        None,
        "Processes to share fits with, each of which makes the same calls: 'torch' or a group of torch.distributed's; "
        "'env', what torchrun, srun or mpirun started; or kindred.Ranks. None: this one alone.",
    ),
]


def parameter(option: dict[str, Any]) -> str:
    name = PARAMETERS.get(option["name"], option["name"].replace("-", "_"))
    return f"{name}_" if keyword.iskeyword(name) else name


def type_of(option: dict[str, Any]) -> str:
    if option["name"] == "k":
        return "int | None"
    if option["name"] == "seed":
        return "Any"
    default = option["default"]
    if option["kind"] == "real":
        return "float | str" if isinstance(default, str) else "float"
    return {"flag": "bool", "integer": "int", "choice": "str", "text": "str"}[option["kind"]]


def default_of(option: dict[str, Any]) -> Any:
    if option["name"] in ("k", "seed"):
        return None
    if option["kind"] == "real" and not isinstance(option["default"], str):
        return float(option["default"])
    return option["default"]


def wrapped(text: str, indent: str) -> str:
    return textwrap.fill(text, 100, initial_indent=indent, subsequent_indent=indent)


def estimator(method: dict[str, Any]) -> str:
    rows = [(parameter(o), type_of(o), default_of(o), o["help"]) for o in method["options"]]
    has_preset = method["name"] == "pg-kmeans"
    if has_preset:
        rows.append(("preset", "str | None", None, "'paper': the paper's setting."))
    rows += COMMON
    options = {parameter(o): o["name"] for o in method["options"]}
    lines = [
        "",
        "",
        f"class {NAMES[method['name']]}(Estimator):",
        wrapped('"""' + method["summary"], "    "),
        "",
        "    Parameters",
        "    ----------",
    ]
    for name, kind, default, help_text in rows:
        lines += [f"    {name} : {kind}, default {default!r}", wrapped(help_text, "        ")]
    lines += ['    """', "", f'    _method = "{method["name"]}"', "    _options: ClassVar[dict[str, str]] = {"]
    lines += [f'        "{name}": "{option}",' for name, option in options.items()]
    lines += ["    }"]
    if not has_preset:
        lines += ["    preset = None"]
    lines += ["", "    def __init__(", "        self,"]
    first = [row for row in rows if row[0] == "n_clusters"]
    others = [row for row in rows if row[0] != "n_clusters"]
    lines += [f"        {name}: {kind} = {default!r}," for name, kind, default, _ in first]
    lines += ["        *,"]
    lines += [f"        {name}: {kind} = {default!r}," for name, kind, default, _ in others]
    lines += ["    ) -> None:"]
    lines += [f"        self.{name} = {name}" for name, _, _, _ in first + others]
    return "\n".join(lines)


def generated() -> str:
    return HEAD + "\n".join(estimator(method) for method in json.loads(_core.describe_methods())) + "\n"


if __name__ == "__main__":
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).with_name("_methods.py")
    target.write_text(generated(), encoding="utf-8")
