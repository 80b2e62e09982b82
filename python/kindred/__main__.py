"""`python -m kindred …` is the program itself."""
import os
import pathlib
import shutil
import sys
import sysconfig


def program() -> str:
    """The program that was installed with this package, or else the one on the PATH."""
    own = pathlib.Path(sysconfig.get_path("scripts")) / "kindred"
    found = str(own) if own.exists() else shutil.which("kindred")
    if found is None:
        sys.exit("kindred: the program is not beside this Python and not on the PATH")
    return found


if __name__ == "__main__":
    path = program()
    os.execv(path, [path, *sys.argv[1:]])
