"""Clusters a dataset by tasks of a Ray cluster, which have to see the file.

python with_ray.py data.hdf5 4
"""
import socket
import sys

import ray

import kindred


@ray.remote(num_cpus=1, scheduling_strategy="SPREAD")
class Rank:
    def address(self):
        with socket.socket() as one:
            one.bind(("", 0))
            return f"{ray.util.get_node_ip_address()}:{one.getsockname()[1]}"

    def fit(self, path, rank, size, address):
        ranks = kindred.Ranks(rank, size, address)
        return kindred.PGKMeans(random_state=0, communicator=ranks).fit(path)


def main(path, size):
    actors = [Rank.remote() for _ in range(size)]
    address = ray.get(actors[0].address.remote())
    fits = [actor.fit.remote(path, rank, size, address) for rank, actor in enumerate(actors)]
    model = ray.get(fits)[0]  # every actor has the same
    print(model.n_clusters_, "policies", *model.labels_)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
