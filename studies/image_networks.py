"""The four classifiers of digits that "Locally Linear Attributes of ReLU Neural Networks" looks at, in torch.

Dense and Conv are the paper's own. Inception-v3 and ResNet-152 have millions of weights and 224 x 224 pixels; here a
compact network of each kind stands for them, with what makes the kind: parallel branches of several window sizes that
are put side by side, and blocks that add to what passes by them. All take pictures (n, 1, side, side).

The paper does not speak of dropout; docs/paper_001.md shows why it is there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

CLASSES = 10


@dataclass(frozen=True)
class Recipe:
    """How a network is trained: plain stochastic gradient descent on the cross entropy.

    The seed decides the first weights, the order of the pictures, and what drops out.
    """

    rate: float
    momentum: float
    decay: float
    batch: int
    epochs: int
    dropout: float = 0.5
    seed: int = 0


# The paper's settings; for the compact networks its rates, with fewer epochs.
PLAIN = Recipe(rate=0.01, momentum=0.5, decay=0.01, batch=64, epochs=30)
DEEP = Recipe(rate=0.1, momentum=0.9, decay=1 / 10_000, batch=50, epochs=10)


@dataclass(frozen=True)
class Architecture:
    """A network by its name: how it is built for pictures of a side, and how it is trained."""

    name: str
    build: Callable[[int], nn.Module]
    recipe: Recipe


def dense(side: int) -> nn.Module:
    """One hidden layer of 128, half of which drops out in training."""
    return nn.Sequential(nn.Flatten(), nn.Linear(side * side, 128), nn.ReLU(), nn.Dropout(), nn.Linear(128, CLASSES))


def conv(side: int) -> nn.Module:
    """Two convolutions of 10 and 20 filters with max-pools, and a layer of 50, with dropout before and behind it.

    Windows are 5 x 5 on 28 x 28 pixels, and 3 x 3 and 2 x 2 on 8 x 8, where the second convolution has no pool.
    """
    large = side >= 16
    first, second = (5, 5) if large else (3, 2)
    left = (side - first + 1) // 2 - second + 1
    pool = [nn.MaxPool2d(2)] if large else []
    width = 20 * (left // 2 if large else left) ** 2
    return nn.Sequential(
        *[nn.Conv2d(1, 10, first), nn.MaxPool2d(2), nn.ReLU()],
        *[nn.Conv2d(10, 20, second), nn.Dropout2d(), *pool, nn.ReLU(), nn.Flatten()],
        *[nn.Linear(width, 50), nn.ReLU(), nn.Dropout(), nn.Linear(50, CLASSES)],
    )


def inception(side: int) -> nn.Module:
    """A stem, two blocks of four branches each (32 and 64 channels), and the mean over the picture."""
    stride = 2 if side >= 16 else 1
    return nn.Sequential(
        _unit(1, 8, 5, stride),
        Branches(8, 8, (6, 4)),
        nn.MaxPool2d(2),
        Branches(32, 16, (12, 8)),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(64, CLASSES),
    )


def resnet(side: int) -> nn.Module:
    """A stem, two blocks of 8 channels and two of 16 at half the side, and the mean over the picture."""
    stride = 2 if side >= 16 else 1
    return nn.Sequential(
        _unit(1, 8, 3, stride),
        *[Residual(8, 8, 1), Residual(8, 8, 1), Residual(8, 16, 2), Residual(16, 16, 1)],
        *[nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, CLASSES)],
    )


ARCHITECTURES = {
    "Dense": Architecture("Dense", dense, PLAIN),
    "Conv": Architecture("Conv", conv, PLAIN),
    "Inception": Architecture("Inception", inception, DEEP),
    "ResNet": Architecture("ResNet", resnet, DEEP),
}


def weights(model: nn.Module) -> int:
    """How many numbers are trained."""
    return sum(part.numel() for part in model.parameters())


def _unit(inputs: int, outputs: int, window: int, stride: int = 1) -> nn.Sequential:
    """A convolution that keeps the side (at stride 1), batch norm, ReLU."""
    padding = window // 2
    convolution = nn.Conv2d(inputs, outputs, window, stride=stride, padding=padding, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs), nn.ReLU())


class Branches(nn.Module):  # type: ignore[misc]  # torch is looked at without its types
    """Windows of 1, of 3, of two times 3, and a mean over 3 x 3, side by side: four times `each` channels."""

    def __init__(self, inputs: int, each: int, narrow: tuple[int, int]) -> None:
        super().__init__()
        one, two = narrow
        self.point = _unit(inputs, each, 1)
        self.window = nn.Sequential(_unit(inputs, one, 1), _unit(one, each, 3))
        self.wide = nn.Sequential(_unit(inputs, two, 1), _unit(two, each, 3), _unit(each, each, 3))
        self.mean = nn.Sequential(nn.AvgPool2d(3, stride=1, padding=1), _unit(inputs, each, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([self.point(x), self.window(x), self.wide(x), self.mean(x)], dim=1)


class Residual(nn.Module):  # type: ignore[misc]  # torch is looked at without its types
    """Two convolutions whose result is added to what came in."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.inner = nn.Sequential(
            _unit(inputs, outputs, 3, stride),
            nn.Conv2d(outputs, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
        )
        same = inputs == outputs and stride == 1
        self.past = (
            nn.Identity()
            if same
            else nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False), nn.BatchNorm2d(outputs))
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.inner(x) + self.past(x))
