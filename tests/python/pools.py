"""100 calls of work() in a pool of processes: pools.py fork|spawn|forkserver with|join|terminate|futures|process."""

import concurrent.futures
import multiprocessing
import sys


def work(number):
    return number * number



def main():
    method, way = sys.argv[1:]
    context = multiprocessing.get_context(method)
    if way == "futures":
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
            results = list(pool.map(work, range(100)))
    elif way == "process":
        queue = context.Queue()
        results = []
        for first in range(0, 100, 50):
            processes = [context.Process(target=many, args=(queue, first, first + 50))]
            for process in processes:
                process.start()
            results += [queue.get() for _ in range(50)]
            for process in processes:
                process.join()
    elif way == "with":
        with context.Pool(2) as pool:
            results = pool.map(work, range(100), 1)
    else:
        pool = context.Pool(2)
        results = pool.map(work, range(100), 1)
        if way == "join":
            pool.close()
        else:
            pool.terminate()
        pool.join()
    print(sum(results))


def many(queue, first, end):
    for number in range(first, end):
        queue.put(work(number))


if __name__ == "__main__":
    main()
