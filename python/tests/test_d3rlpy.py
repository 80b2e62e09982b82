"""Kindred and d3rlpy in one process."""
from beside_torch import EPISODES, python_with, run

D3RLPY = EPISODES + """
import d3rlpy

d3rlpy.seed(0)
buffer = d3rlpy.dataset.create_infinite_replay_buffer([
    d3rlpy.dataset.Episode(o, a, np.zeros((40, 1), np.float32), terminated=False) for o, a in zip(seen, done)
])
data = kindred.load(buffer)
labels = kindred.cluster(data).labels
assert len(set(zip(labels.tolist(), truth.tolist()))) == 2
some = kindred.load(data.filter(labels, [labels[0]], "some.hdf5"))
assert len(some) == 12
filtered = d3rlpy.dataset.MDPDataset(some.observations, some.actions, some.rewards, some.terminals, some.timeouts)
cloned = d3rlpy.algos.BCConfig(batch_size=64).create()
epochs = cloned.fit(filtered, n_steps=100, n_steps_per_epoch=50, show_progress=False)
assert epochs[1][1]["loss"] < epochs[0][1]["loss"]
assert cloned.predict(some[0][0]).shape == (40, 2)
print("d3rlpy", d3rlpy.__version__)
"""


def test_a_buffer_of_d3rlpy_goes_in_and_what_is_left_trains(tmp_path):
    assert "d3rlpy" in run(python_with("d3rlpy"), D3RLPY, tmp_path)
