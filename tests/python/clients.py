"""`clients.py WHICH`: 60 calls of work() by the workers of a library."""

import sys


def work(n):
    return n * n


def by_joblib(backend):
    import joblib

    return sum(joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(work)(n) for n in range(60)))


def by_dask():
    import dask
    from dask import delayed

    with dask.config.set(scheduler="processes", num_workers=2):
        return sum(dask.compute(*(delayed(work)(n) for n in range(60))))


def by_distributed():
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        return sum(client.gather(client.map(work, range(60), pure=False)))


def by_threads():
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(3) as pool:
        return sum(pool.map(work, range(60)))


if __name__ == "__main__":
    which = sys.argv[1]
    print({"dask": by_dask, "distributed": by_distributed, "futures": by_threads}[which]() if which in ("dask", "distributed", "futures") else by_joblib(which))
