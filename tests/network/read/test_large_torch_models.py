"""Image classifiers of hundreds of layers: they are read in little time and memory, and computed alike.

Small images are in tests/engine/cells/test_local_large.py: reading a network takes longer than all else there.
"""

from __future__ import annotations

import pytest

pytest.importorskip("torch")
pytest.importorskip("pytorchcv", reason="PYTORCHCV IS ABSENT: make setup installs it")

from helpers.large_models import FULL, check_import, classifier, gates
from polyfold.network import Network, load
from polyfold.network.read.check import FEWEST_POINTS, POINTS, affordable_points


def check_full(kind: str) -> Network:
    module = classifier(kind, FULL[kind])
    network = load(module, input_shape=(1, FULL[kind], FULL[kind]))
    check_import(module, network, 2)
    return network


@pytest.mark.slow
def test_resnet_152() -> None:
    network = check_full("resnet")
    assert gates(network) > 20_000_000
    assert affordable_points(network) == FEWEST_POINTS


@pytest.mark.slow
def test_inception_v3() -> None:
    assert gates(check_full("inception")) > 8_000_000


def test_small_networks_are_compared_at_all_points() -> None:
    assert affordable_points(load([([[1.0, 2.0]], [0.5])])) == POINTS
