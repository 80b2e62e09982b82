"""Files as h5py writes them, in every layout and with floats of 16 bits, read by kindred info.

    build/venv/bin/python tests/data/python/check_foreign.py build/release/kindred
"""
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy
except ImportError as missing:
    print(f"*** NOT TESTED: {missing}; 'scripts/setup test' installs what is needed")
    sys.exit(77)

STEPS = 40


def write(path, layout, floats):
    """Two episodes of twenty steps, the first by policy 0 and the second by policy 1."""
    with h5py.File(path, "w", libver=layout) as file:
        file["observations"] = numpy.linspace(-1, 1, 3 * STEPS).reshape(STEPS, 3).astype(floats)
        actions = numpy.linspace(-1, 1, 2 * STEPS).reshape(STEPS, 2).astype(floats)
        file.create_dataset("actions", data=actions, chunks=(16, 2), compression="gzip")
        file["rewards"] = numpy.ones(STEPS, floats)
        ends = numpy.zeros(STEPS, bool)
        ends[[STEPS // 2 - 1, STEPS - 1]] = True
        file["terminals"] = ends
        file["infos/policy_id"] = numpy.repeat([0, 1], STEPS // 2)


def main():
    kindred = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        for layout in ["earliest", "v108", "v110", ("earliest", "latest"), "latest"]:
            for floats in ["f2", "f4", "f8"]:
                path = pathlib.Path(folder) / "file.hdf5"
                write(path, layout, floats)
                ran = subprocess.run([kindred, "info", path, "--json"], capture_output=True, text=True)
                if layout == "latest" and ran.returncode == 2:  # kindred's HDF5 may be older
                    assert "newer HDF5" in ran.stderr, ran.stderr
                    continue
                assert ran.returncode == 0, (layout, floats, ran.stderr)
                found = json.loads(ran.stdout)
                assert found["return"] == {"min": 20.0, "mean": 20.0, "max": 20.0}, found
                assert found["labels"]["sizes"] == [1, 1], found
    print("h5py's files are read")


main()
