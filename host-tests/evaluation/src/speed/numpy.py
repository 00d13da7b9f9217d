"""Random Fourier features in single precision on one thread: seconds per sample.

Arguments: channels, frequencies and samples. Prints the shortest of several times, for the fastest
of a few numbers of rows at a time.
"""

import os
import sys
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy

channels, frequencies, samples = map(int, sys.argv[1:4])
generator = numpy.random.default_rng(1)
rows = generator.standard_normal((samples, channels), dtype=numpy.float32)
weights = generator.standard_normal((channels, frequencies), dtype=numpy.float32)


def mean_embedding(at_once):
    cosines = numpy.zeros(frequencies)
    sines = numpy.zeros(frequencies)
    for start in range(0, samples, at_once):
        phases = rows[start : start + at_once] @ weights
        cosines += numpy.cos(phases).sum(axis=0)
        sines += numpy.sin(phases).sum(axis=0)
    return cosines / samples, sines / samples


least = float("inf")
for at_once in (64, 256, 1024):
    for _ in range(3):
        start = time.thread_time()
        mean_embedding(at_once)
        least = min(least, time.thread_time() - start)
print(least / samples, numpy.__version__)
