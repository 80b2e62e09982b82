"""Clusters a dataset by all workers of a Dask cluster, which have to see the file.

python with_dask.py data.hdf5 [tcp://scheduler:8786]
"""
import socket
import sys
from urllib.parse import urlparse

from dask.distributed import Client

import kindred


def free_port():
    with socket.socket() as one:
        one.bind(("", 0))
        return one.getsockname()[1]


def fit(path, rank, size, address):
    ranks = kindred.Ranks(rank, size, address)
    return kindred.PGKMeans(random_state=0, communicator=ranks).fit(path)


def main(path, scheduler=None):
    with Client(scheduler) if scheduler else Client(n_workers=2, threads_per_worker=1) as client:
        workers = list(client.scheduler_info(n_workers=-1)["workers"])
        port = client.submit(free_port, workers=workers[0], pure=False).result()
        address = f"{urlparse(workers[0]).hostname}:{port}"
        fits = [
            client.submit(fit, path, rank, len(workers), address, workers=worker, pure=False)
            for rank, worker in enumerate(workers)
        ]
        model = client.gather(fits)[0]  # every worker has the same
    print(model.n_clusters_, "policies", *model.labels_)


if __name__ == "__main__":
    main(*sys.argv[1:])
