#!/usr/bin/env python3
"""What scripts/bench makes of the lines that timed programs print."""
import argparse
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True


def load():
    path = str(ROOT / "scripts" / "bench")
    loader = importlib.machinery.SourceFileLoader("bench", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench", loader))
    loader.exec_module(module)
    return module


bench = load()


def line(who, seconds, after=-6.0, **more):
    return {"row": "m-step", "shape": "4x512", "who": who, "data": "d", "before": -15.0, "after": after,
            "work": 100, "unit": "steps", "seconds": seconds, "cpu": 2 * seconds, **more}


class Talker:
    """A program that has its lines ready."""

    def __init__(self, lines):
        self.lines, self.about = list(lines), lines[0]

    def get_ready(self):
        pass

    def turn(self):
        return self.lines.pop(0)

    def end(self):
        pass


def measured(*talks):
    return bench.measure("m-step", [lambda t=t: Talker(t) for t in talks], len(talks[0]))


def record_of(*rows, load=0.5):
    return {"kind": "cpu-2-cores", "date": "2026-01-01", "turns": 3, "load_average": [load, load],
            "hardware": {"processor": "p", "vectors": "avx2", "cores": 2, "memory_GiB": 8, "gpu": None},
            "versions": {"kindred": "v"}, "rows": list(rows), "curves": []}


class Ratios(unittest.TestCase):
    def test_ratios_are_taken_within_a_turn(self):
        # The machine slows down tenfold: the ratio stays what it is.
        row = measured([line("Kindred", s) for s in (1, 10, 100)], [line("PyTorch", 3 * s) for s in (1, 10, 100)])
        self.assertEqual(row["entries"][1]["ratio_seconds"], {"median": 3.0, "low": 3.0, "high": 3.0})

    def test_a_rate_is_a_share_of_the_machines(self):
        ours = line("Kindred", 2.0, flop=10.0)
        limit = {"row": "sgemm", "shape": "768", "who": "machine", "flop": 40.0, "seconds": 4.0, "cpu": 4.0}
        row = measured([ours], [limit])
        self.assertEqual(row["entries"][1]["ratio_seconds"]["median"], 0.5)  # 5 of 10 a second

    def test_work_that_a_symmetry_saves_is_shown_beside_what_is_done(self):
        ours = line("Kindred", 2.0, flop=10.0, plain_flop=18.0)
        limit = {"row": "sgemm", "shape": "768", "who": "machine", "flop": 40.0, "seconds": 4.0, "cpu": 8.0}
        table = bench.roofline_of(record_of(measured([ours], [limit])))
        shares = [text.split(" | ")[4:] for text in table if "products in float" in text]
        self.assertEqual(shares, [["0.5 (0.5 – 0.5)", "0.5 |"], ["0.9 (0.9 – 0.9)", "0.9 |"]])
        self.assertIn("M-step * |", "\n".join(table))

    def test_the_strongest_peer_comes_first(self):
        row = measured([line("Kindred", 1.0)], [line("slow", 9.0)], [line("fast", 2.0)])
        self.assertEqual([p["who"] for p in bench.peers_of(record_of(row), row)], ["fast", "slow"])

    def test_on_a_machine_that_others_use_cpu_time_decides(self):
        row = measured([line("Kindred", 1.0)], [line("waits", 9.0, cpu=2.0)], [line("spins", 2.0, cpu=9.0)])
        self.assertEqual(bench.peers_of(record_of(row, load=9.0), row)[0]["who"], "waits")


class WholeProgram(unittest.TestCase):
    def test_every_form_of_the_file_has_its_own_least(self):
        def form(name, ours, least):
            return measured([{"row": "program", "shape": name, "who": "Kindred", "seconds": ours, "cpu": ours}],
                            [{"row": "read", "shape": name, "who": "HDF5", "bytes": 1, "seconds": least, "cpu": least}])

        rows = [{**row, "row": "program"} for row in (form("a.hdf5", 1.0, 0.1), form("a.gzip.hdf5", 1.5, 0.5))]
        times = [text.split(" | ")[1::3] for text in bench.whole_of(record_of(*rows))[3:]]
        self.assertEqual(times, [["a.hdf5", "10 (10 – 10)"], ["a.gzip.hdf5", "3 (3 – 3)"]])


class Refusals(unittest.TestCase):
    def refused(self, **theirs):
        return measured([line("Kindred", 1.0)], [line("PyTorch", 1.0, **theirs)])["entries"][1].get("refused")

    def test_the_same_end_is_accepted(self):
        self.assertIsNone(self.refused(after=-6.08))  # within 1% of a gain of 9

    def test_another_likelihood_is_refused(self):
        self.assertIn("ends at -6", self.refused(after=-6.1))

    def test_other_data_is_refused(self):
        self.assertEqual(self.refused(data="e"), "not the same data")

    def test_what_is_no_number_is_refused(self):
        self.assertIsNotNone(self.refused(after=float("nan")))

    def test_a_refused_row_shows_no_ratio(self):
        row = measured([line("Kindred", 1.0)], [line("PyTorch", 1.0, data="e")])
        self.assertNotIn("ratio_seconds", row["entries"][1])
        self.assertTrue(any("REFUSED: not the same data" in text for text in bench.table_of(record_of(row))))


class Absence(unittest.TestCase):
    def test_a_missing_peer_is_named_in_the_table(self):
        def no_jax():
            raise bench.Absent("JAX: No module named 'jax'")

        row = bench.measure("m-step", [lambda: Talker([line("Kindred", 1.0)]), no_jax], 1)
        self.assertIn("JAX: No module named 'jax'", "\n".join(bench.table_of(record_of(row))))

    def test_a_program_that_says_it_cannot_run(self):
        command = [sys.executable, "-c", """print('{"who": "JAX", "absent": "none"}')"""]
        with self.assertRaisesRegex(bench.Absent, "JAX: none"):
            bench.Program(command, None).get_ready()

    def test_a_program_that_fails_says_why(self):
        with self.assertRaisesRegex(bench.Absent, "broken"):
            bench.Program([sys.executable, "-c", "raise SystemExit('broken')"], None).get_ready()


class Check(unittest.TestCase):
    def check(self, kept, new, tolerance=0.25):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as said:
            folder = pathlib.Path(folder)
            records = bench.RECORDS
            bench.RECORDS = folder
            try:
                for name, seconds in (("cpu-2-cores.json", kept), ("new.json", new)):
                    row = measured([line("Kindred", 1.0)], [line("PyTorch", seconds)])
                    (folder / name).write_text(json.dumps(record_of(row)))
                status = bench.check(argparse.Namespace(record=folder / "new.json", tolerance=tolerance))
            finally:
                bench.RECORDS = records
        return status, said.getvalue()

    def test_a_ratio_that_fell_is_reported(self):
        status, said = self.check(kept=4.0, new=2.0)
        self.assertEqual(status, 1)
        self.assertIn("WORSE", said)

    def test_a_ratio_within_the_tolerance_passes(self):
        self.assertEqual(self.check(kept=4.0, new=3.2)[0], 0)


if __name__ == "__main__":
    unittest.main()
