"""Image classifiers of hundreds of layers with random weights, for tests that need something large and real."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from pytorchcv.models.inceptionv3 import inceptionv3
from pytorchcv.models.resnet import resnet152

MODELS: dict[str, Callable[..., Any]] = {"resnet": resnet152, "inception": inceptionv3}

# The smallest images that each takes once its last pool is adaptive, and those that it was made for.
SMALL = {"resnet": 32, "inception": 75}
FULL = {"resnet": 224, "inception": 299}


def classifier(kind: str, pixels: int) -> Any:
    """A classifier of one channel into ten classes whose normalisation fits it, so that all layers matter."""
    torch.manual_seed(0)
    module = MODELS[kind](in_channels=1, num_classes=10)
    module.in_size = (pixels, pixels)
    if pixels < FULL[kind]:
        module.features.final_pool = torch.nn.AdaptiveAvgPool2d(1)
    for part in module.modules():
        if isinstance(part, torch.nn.BatchNorm2d):
            part.momentum = 1.0
    with torch.no_grad():
        module.train()(torch.randn(3, 1, pixels, pixels))
    return module.eval()
