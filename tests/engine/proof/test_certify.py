"""certify(): proves what the engine makes, degenerate networks included."""

from __future__ import annotations

import signal
import threading
import time
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import polyfold as pf
from engine.test_unfold_counts import PROPERTY_3
from helpers.atlas_oracles import by_hand, unfolded
from helpers.shared_files import MODELS
from helpers.slow_params import quick_then_slow
from polyfold._base.clock import Progress
from polyfold.errors import LimitError


def random_network(seed, *widths):
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=(b, a)), rng.normal(size=b)) for a, b in pairwise(widths)]


def hidden(*layers):
    arrays = [(np.array(W, dtype=float), np.array(b, dtype=float)) for W, b in layers]
    return [*arrays, (np.ones((1, len(arrays[-1][1]))), np.zeros(1))]


def assert_certified(atlas: pf.Atlas, **options) -> pf.Certificate:
    certificate = pf.certify(atlas, **options)
    assert certificate.level == "certified", [str(check) for check in certificate.failed_checks]
    assert not certificate.failed_checks
    return certificate


def in_exact_arithmetic(certificate: pf.Certificate) -> int:
    return int(certificate.checks[-1].detail.split(" in floats, ")[1].split()[0].replace(",", ""))


@pytest.mark.parametrize("batch", quick_then_slow(range(2), quick=1))
def test_generated_networks(batch):
    for seed in range(batch, 300, 2):
        _, atlas = unfolded(seed)
        assert_certified(atlas, threads=1)


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(20))
def test_many_generated_networks(batch):
    for seed in range(300 + batch, 2300, 20):
        _, atlas = unfolded(seed)
        assert_certified(atlas, threads=1)


def test_special_shapes():
    """No gates, one dimension, whole spaces, strips, slices."""
    for atlas in by_hand():
        assert_certified(atlas)


@pytest.mark.parametrize("domain", [None, pf.box(-1, 1), pf.polytope([[1.0, 2.0], [-1.0, 0.5]], [3.0, 2.0])])
def test_general_position_is_proved_in_floats(domain):
    certificate = assert_certified(pf.unfold(random_network(0, 2, 16, 16, 1), domain))
    assert in_exact_arithmetic(certificate) == 0


@pytest.mark.parametrize(
    ("widths", "domain"),
    [((1, 20, 5, 1), None), ((5, 8, 8, 1), pf.box(-1, 1)), ((8, 6, 4, 1), pf.box(-1, 1)), ((12, 5, 1), pf.box(0, 1))],
)
def test_other_dimensions_are_proved_in_floats(widths, domain):
    certificate = assert_certified(pf.unfold(random_network(1, *widths), domain))
    assert in_exact_arithmetic(certificate) <= 2


RNG = np.random.default_rng(5)


@pytest.mark.parametrize("domain", [None, pf.box(-1, 1)], ids=["everywhere", "box"])
@pytest.mark.parametrize(
    "network",
    [
        pytest.param(hidden(([[0, 0]], [0])), id="identically zero"),
        pytest.param(hidden(([[0, 0], [1, 0]], [1, 0])), id="a neuron without inputs"),
        pytest.param(hidden(([[1, 2], [2, 4], [-1, -2]], [0.5, 1, -0.5])), id="duplicates and opposites"),
        pytest.param(hidden(([[1, 2], [1, 2], [-1, -2]], [0, 0.5, 1])), id="parallel walls"),
        pytest.param(hidden(([[1, 0], [0, 1], [1, 1], [1, -1]], [0, 0, 0, 0])), id="walls through a point"),
        pytest.param(hidden(([[1, 0], [0, 1], [1, 1]], [-1, 1, -2])), id="walls along and through the box's corner"),
        pytest.param(hidden(([[1, 0], [-1, 0]], [0, 0]), ([[-1, -1]], [0])), id="a deep gate that touches zero"),
        pytest.param(hidden(([[1, 0], [1, 0]], [0, 0]), ([[1, -1]], [0])), id="a deep gate that vanishes"),
        pytest.param(hidden(([[1, 0], [1, 1e-12]], [0, 0])), id="slivers"),
        pytest.param(
            hidden((RNG.normal(size=(5, 2)), np.zeros(5)), (RNG.normal(size=(4, 5)), np.zeros(4))), id="no biases"
        ),
        pytest.param(
            hidden(
                (RNG.integers(-2, 3, size=(5, 2)), RNG.integers(-1, 2, size=5)),
                (RNG.integers(-2, 3, size=(4, 5)), RNG.integers(-1, 2, size=4)),
            ),
            id="integers",
        ),
    ],
)
def test_degenerate_networks(network, domain):
    assert_certified(pf.unfold(network, domain))


@pytest.mark.parametrize("domain", [None, pf.box(-1, 1)], ids=["everywhere", "box"])
def test_no_biases_in_floats(domain):
    """All walls pass through the origin, where every form is zero: structure that floats may use."""
    network = [(W, np.zeros(len(W))) for W, _ in random_network(0, 3, 10, 8, 1)]
    certificate = assert_certified(pf.unfold(network, domain))
    assert in_exact_arithmetic(certificate) <= 5


def test_narrow_stages_in_floats():
    """With fewer gates on than dimensions later gates are constant along directions to infinity."""
    certificate = assert_certified(pf.unfold(random_network(0, 5, 8, 8, 1)))
    assert in_exact_arithmetic(certificate) <= 20


def test_slivers_without_a_float_inside():
    atlas = pf.unfold(hidden(([[1], [1]], [-1, -(1 + 2**-52)])))
    assert len(atlas.exact_witnesses) == 1
    assert_certified(atlas)


def test_leaky_and_max_gates():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    leaky = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.LeakyReLU(0.1), torch.nn.Linear(8, 6), torch.nn.PReLU())

    class Larger(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.sum = torch.nn.Linear(2, 3)

        def forward(self, x):
            return torch.relu(self.sum(torch.maximum(x[:, :2], x[:, 2:])))

    assert_certified(pf.unfold(leaky.double(), pf.box(-2, 2)))
    plane = pf.slice_of([0.1, 0.2, 0.3, 0.4], RNG.normal(size=(4, 2)))
    assert_certified(pf.unfold(pf.load(Larger().double(), input_shape=(4,)), plane))


def test_threads_change_nothing_and_progress_is_told():
    atlas = pf.unfold(random_network(2, 3, 16, 12, 1))
    told: list[Progress] = []
    assert assert_certified(atlas, threads=1).checks == assert_certified(atlas, threads=3, progress=told.append).checks
    assert all(event.done <= len(atlas) for event in told)
    for threads in (0, -1, 1.5, "two"):
        with pytest.raises(LimitError, match="threads"):
            pf.certify(atlas, threads=threads)


def test_an_error_in_the_progress_function_comes_through():
    atlas = pf.unfold(random_network(2, 5, 14, 14, 1), pf.box(-1, 1), max_cells=None)

    def refuse(cells):
        raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        pf.certify(replace(atlas, witnesses=atlas.witnesses + 0.0), progress=refuse, threads=1)


def test_an_interrupt_ends_it_soon(interruptible):
    atlas = pf.unfold(random_network(2, 5, 18, 18, 1), pf.box(-1, 1), max_seconds=20)
    assert atlas.complete
    began: list[float] = []

    def interrupt(cells):
        if not began:
            began.append(time.perf_counter())
            threading.Timer(0.01, lambda: signal.raise_signal(signal.SIGINT)).start()

    with pytest.raises(KeyboardInterrupt):
        pf.certify(atlas, progress=interrupt, threads=1)
    assert time.perf_counter() - began[0] < 0.5


def test_a_time_limit_is_told():
    # The first network is proved in floats; the second one, with walls that coincide, only in integers.
    for network in (random_network(2, 5, 18, 18, 1), hidden(([[1, 2], [2, 4], [-1, -2]], [0.5, 1, -0.5]))):
        atlas = pf.unfold(network, pf.box(-1, 1), max_seconds=20)
        assert atlas.complete
        found = pf.certify(atlas, max_seconds=1e-9)
        assert found.level == "counted" and [check.name for check in found.failed_checks] == [
            "every cell was looked at"
        ]
        assert "max_seconds=1e-09 was over before" in found.failed_checks[0].detail
        assert pf.certify(atlas, max_seconds=100).level == "certified"
    with pytest.raises(LimitError, match="max_seconds=-1"):
        pf.certify(atlas, max_seconds=-1)


def test_the_certificate_can_be_kept():
    atlas = pf.unfold(random_network(3, 2, 6, 1))
    kept = atlas.with_certificate(pf.certify(atlas))
    assert kept.certificate.level == "certified"
    assert (kept.certificate.method, kept.certificate.seconds) == (atlas.certificate.method, atlas.certificate.seconds)
    assert pf.certify(kept) == kept.certificate


def test_the_certificate_is_stored(tmp_path):
    pytest.importorskip("pyarrow")
    atlas = pf.unfold(random_network(3, 2, 6, 1), pf.box(-1, 1))
    atlas.with_certificate(pf.certify(atlas)).save(tmp_path / "atlas.parquet")
    again = pf.open(tmp_path / "atlas.parquet")
    assert again.certificate.level == "certified"
    assert pf.certify(again) == again.certificate


@pytest.mark.shared("models")
def test_acasxu_on_the_property_3_box():
    atlas = pf.unfold(MODELS / "acasxu_1_1.onnx", pf.box(*PROPERTY_3))
    assert in_exact_arithmetic(assert_certified(atlas)) <= 5
