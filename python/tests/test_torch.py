"""Kindred in one process with torch."""
from beside_torch import EPISODES, python_with, run

TENSORS = EPISODES + """
run = kindred.cluster([(torch.from_numpy(o), torch.from_numpy(a)) for o, a in zip(seen, done)])
assert len(set(zip(run.labels.tolist(), truth.tolist()))) == 2
module = run.policies[0].to_torch()
there = torch.from_numpy(seen[0])
assert torch.allclose(module.act(there), torch.from_numpy(run.policies[0].act(seen[0])), atol=1e-5)
assert module.sample(there).shape == (40, 2)
"""


def test_tensors_go_in_and_policies_come_out_as_modules(tmp_path):
    run(python_with("numpy"), TENSORS, tmp_path)
