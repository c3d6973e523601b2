"""What several files of tests share because it takes long to make."""

from __future__ import annotations

from typing import Any

import pytest

from polyfold.network import Network, load


def _small_classifier(kind: str) -> tuple[Any, Network]:
    from network.large_models import SMALL, classifier

    module = classifier(kind, SMALL[kind])
    return module, load(module, input_shape=(1, SMALL[kind], SMALL[kind]))


# Tests that use one of these belong into the xdist group of its name: then one process loads it, once.
@pytest.fixture(scope="session")
def small_resnet() -> tuple[Any, Network]:
    """ResNet-152 on small images: the torch module and the network."""
    return _small_classifier("resnet")


@pytest.fixture(scope="session")
def small_inception() -> tuple[Any, Network]:
    """Inception-v3 on small images: the torch module and the network."""
    return _small_classifier("inception")
