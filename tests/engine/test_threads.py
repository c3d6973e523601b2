"""Threads: what is found does not depend on them, and a thread that the system refuses is done without."""

from __future__ import annotations

import itertools
import subprocess
import sys

import numpy as np
import pytest

import polyfold as pf
from polyfold.engine.unfold import _ARRAYS

Layers = list[tuple[np.ndarray, np.ndarray]]


def random_layers(*widths: int, integers: bool = False) -> Layers:
    rng = np.random.default_rng(7)

    def draw(*shape: int) -> np.ndarray:
        return rng.integers(-2, 3, shape).astype(float) if integers else rng.standard_normal(shape)

    return [(draw(to, of), draw(to)) for of, to in itertools.pairwise(widths)]


# Enough cells for several threads to pair facets: some are left over from every stretch of cells. Integer weights make
# walls that meet the others in many ways, so that facets have several walls.
MANY = {"ordinary": random_layers(3, 64, 24, 1), "degenerate": random_layers(3, 80, 24, 1, integers=True)}


@pytest.mark.parametrize("name", MANY)
@pytest.mark.parametrize("max_cells", [None, 40_000])
def test_arrays_do_not_depend_on_threads(name: str, max_cells: int | None) -> None:
    one, *others = (
        pf.unfold(MANY[name], pf.box([-9.0] * 3, [9.0] * 3), max_cells=max_cells, threads=threads)
        for threads in (1, 2, 4)
    )
    assert len(one) >= 4 * 2**14 or max_cells == len(one)
    assert name == "ordinary" or len(one.shared_facet)
    for other in others:
        assert all(np.array_equal(getattr(one, array), getattr(other, array)) for array in _ARRAYS)
        assert other.arrays_digest == one.arrays_digest
        assert other.certificate.level == one.certificate.level


# Stacks as large as the system is told to make them leave address space for two threads.
FEW_THREADS = """
import re, resource, sys
import numpy as np, polyfold as pf

rng = np.random.default_rng(0)
layers = [(rng.standard_normal((n, m)), rng.standard_normal(n)) for m, n in ((3, 24), (24, 24), (24, 1))]
box = pf.box([-1.0] * 3, [1.0] * 3)
expected = pf.unfold(layers, box, threads=1)
size = 1024 * int(re.search(r"VmSize:\\s+(\\d+)", open("/proc/self/status").read()).group(1))
resource.setrlimit(resource.RLIMIT_AS, (size + 5 * 2**29, resource.RLIM_INFINITY))
atlas = pf.unfold(layers, box, threads=16)
assert atlas.arrays_digest == expected.arrays_digest
assert pf.count(layers, box, threads=16).cells == len(expected)
assert pf.certify(atlas, threads=16).level == "certified"
assert np.allclose(atlas.volumes().sum(), 8)
print("done without")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="sets limits that Linux has")
def test_a_thread_that_cannot_start_is_done_without() -> None:
    done = subprocess.run(
        ["bash", "-c", 'ulimit -s 1048576 && exec "$0" -c "$1"', sys.executable, FEW_THREADS],
        capture_output=True,
        text=True,
        env={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PATH": "/usr/bin:/bin"},
        check=False,
    )
    assert done.stdout == "done without\n", done.stderr
