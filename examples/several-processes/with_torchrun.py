"""Clusters a dataset by all processes that torchrun started.

torchrun --nproc-per-node 4 with_torchrun.py data.hdf5
"""
import sys

import torch.distributed as dist

import kindred

dist.init_process_group("gloo")
run = kindred.cluster(sys.argv[1], seed=0, communicator="torch")  # the same on every rank
if dist.get_rank() == 0:
    print(run.n_clusters, "policies", *run.labels)
dist.destroy_process_group()
