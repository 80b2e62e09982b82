"""Real files, where they are beside the checkout."""
import csv

import numpy as np
import pytest
from conftest import ROOT

import kindred

SHARED = ROOT.parent / "shared" / "data" / "mujoco"
pytestmark = pytest.mark.skipif(not SHARED.exists(), reason="*** NOT TESTED: there is no shared/data/mujoco")


@pytest.fixture(scope="module")
def hopper():
    return kindred.load(SHARED / "hopper-medium-expert.hdf5")


@pytest.fixture(scope="module")
def labels(hopper):
    return kindred.PGKMeans().fit_predict(hopper)


@pytest.mark.parametrize(("scale", "shift"), [(1e-3, 0.0), (10.0, 0.0), (1e4, -3e4), (1e-3, 2e-3)])
def test_labels_do_not_depend_on_the_units_of_actions(hopper, labels, scale, shift):
    actions = (hopper.actions.astype(np.float64) * scale + shift).astype(np.float32)
    other = kindred.from_arrays(hopper.observations, actions, lengths=hopper.lengths, ids=hopper.ids)
    assert np.array_equal(kindred.PGKMeans().fit_predict(other), labels)


def test_labels_do_not_depend_on_the_units_of_observations(hopper, labels):
    units = np.logspace(-3, 4, hopper.obs_dim)
    seen = (hopper.observations * units + units * np.linspace(-3, 3, hopper.obs_dim)).astype(np.float32)
    other = kindred.from_arrays(seen, hopper.actions, lengths=hopper.lengths, ids=hopper.ids)
    assert np.array_equal(kindred.PGKMeans().fit_predict(other), labels)


def test_labels_are_the_truth(hopper, labels):
    with open(SHARED / "hopper-medium-expert.labels.csv", encoding="utf-8") as file:
        truth = [row["label"] for row in csv.DictReader(file)]
    assert len(set(zip(labels, truth, strict=True))) == 2
