"""Runs the work of `npm run bench:models` with the package `implicit`, for its figures to be compared with.

Reads one JSON request a line and answers each with one JSON line. The data is a folder with user_items.indptr and
user_items.indices (uint32, little-endian), of the shape given on the command line: DIR USERS ITEMS THREADS.
"""

import json
import os
import sys
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np  # noqa: E402
from implicit.cpu.als import AlternatingLeastSquares  # noqa: E402
from implicit.nearest_neighbours import CosineRecommender  # noqa: E402
from scipy.sparse import csr_matrix  # noqa: E402

BATCH_USERS = 1000


def timed(work):
    """Seconds by the clock and of the processor, all threads together."""
    start, used = time.perf_counter(), time.process_time()
    work()
    return {"seconds": time.perf_counter() - start, "cpu": time.process_time() - used}


def last_epoch(model, user_items):
    """The second of two epochs of a fit: its beginning is the end of the first, so set-up is left out."""
    passed, used = [], []

    def note(_, seconds, *__):
        passed.append(seconds)
        used.append(time.process_time())

    model.fit(user_items, show_progress=False, callback=note)
    return {"seconds": passed[1], "cpu": used[1] - used[0]}


class Bench:
    def __init__(self, folder, users, items, threads):
        self.folder = folder
        self.threads = threads
        indptr = np.fromfile(os.path.join(folder, "user_items.indptr"), dtype=np.uint32)
        indices = np.fromfile(os.path.join(folder, "user_items.indices"), dtype=np.uint32)
        data = np.ones(len(indices), dtype=np.float32)
        self.user_items = csr_matrix((data, indices.astype(np.int32), indptr.astype(np.int32)), shape=(users, items))
        self.als = {}

    def als_epoch(self, factors):
        """Seconds of one more epoch over the factors of the last, transposing and set-up left out."""
        if factors not in self.als:
            self.als[factors] = AlternatingLeastSquares(
                factors=factors, iterations=2, num_threads=self.threads, random_state=1
            )
        return last_epoch(self.als[factors], self.user_items)

    def als_fit(self):
        """A whole training with the package's defaults; its factors go to files."""
        model = AlternatingLeastSquares(num_threads=self.threads, random_state=1)
        times = timed(lambda: model.fit(self.user_items, show_progress=False))
        np.asarray(model.user_factors, dtype=np.float32).tofile(os.path.join(self.folder, "user_factors"))
        np.asarray(model.item_factors, dtype=np.float32).tofile(os.path.join(self.folder, "item_factors"))
        return {**times, "factors": model.factors}

    def recommend_all(self, factors, k):
        if factors not in self.als:
            self.als_epoch(factors)
        model = self.als[factors]
        users = np.arange(self.user_items.shape[0])

        def work():
            for first in range(0, len(users), BATCH_USERS):
                batch = users[first : first + BATCH_USERS]
                model.recommend(batch, self.user_items[batch], N=k, filter_already_liked_items=True)

        return timed(work)

    def neighbors(self, k):
        model = CosineRecommender(K=k, num_threads=self.threads)
        return timed(lambda: model.fit(self.user_items, show_progress=False))


def main():
    folder, users, items, threads = sys.argv[1], *map(int, sys.argv[2:5])
    bench = Bench(folder, users, items, threads)
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        work = getattr(bench, request.pop("work"))
        print(json.dumps(work(**request)), flush=True)


main()
