"""Train the small network of docs/truncation.md and write src/polyfold/datasets/blobs.npz; or draw its film strip.

    python tools/train_blobs.py [--scan SEEDS]
    python tools/train_blobs.py --picture docs/images/film_strip.png

Three clusters of 60 points in the plane, three hidden layers of two ReLUs, cross entropy, Adam with learning rate 0.02,
1500 steps over all points, float64. All hidden layers are square, so that the truncation maps are the network. Which
seed is bundled was decided by looking at the film strips of seeds 0 to 5: in some of the others a nearly singular layer
throws points a hundred times as far as the data reaches, and little else can be seen. `--scan 6` prints all of them.

Nothing here is needed to use polyfold; training needs torch.
"""

from __future__ import annotations

import argparse
from itertools import pairwise
from pathlib import Path

import numpy as np

import polyfold as pf

TARGET = Path(__file__).parents[1] / "src" / "polyfold" / "datasets" / "blobs.npz"
CENTRES = np.array([[0.0, 1.6], [-1.6, -1.0], [1.6, -1.0]])
SPREAD, MEMBERS, DATA_SEED = 0.35, 60, 0
WIDTHS, SEED, STEPS, RATE = (2, 2, 2, 2, 3), 1, 1500, 0.02
Layers = list[tuple[np.ndarray, np.ndarray]]


def clusters() -> tuple[np.ndarray, np.ndarray]:
    """The points, to three decimals, and their classes."""
    rng = np.random.default_rng(DATA_SEED)
    points = np.concatenate([rng.normal(centre, SPREAD, (MEMBERS, 2)) for centre in CENTRES])
    return points.round(3), np.repeat(np.arange(len(CENTRES)), MEMBERS)


def train(seed: int) -> tuple[Layers, float]:
    """The trained layers and the share of points that they get right."""
    import torch
    from torch import nn

    torch.manual_seed(seed)
    modules: list[nn.Module] = []
    for k, (inputs, outputs) in enumerate(pairwise(WIDTHS)):
        modules += [nn.ReLU(), nn.Linear(inputs, outputs)] if k else [nn.Linear(inputs, outputs)]
    model = nn.Sequential(*modules).double()
    optimiser = torch.optim.Adam(model.parameters(), lr=RATE)
    X, y = (torch.as_tensor(part) for part in clusters())
    for _ in range(STEPS):
        optimiser.zero_grad()
        nn.functional.cross_entropy(model(X), y).backward()
        optimiser.step()
    right = float((model(X).argmax(dim=1) == y).double().mean())
    linear = [layer for layer in model if isinstance(layer, nn.Linear)]
    return [(layer.weight.detach().numpy(), layer.bias.detach().numpy()) for layer in linear], right


def main() -> None:
    """Train and write, or draw."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--scan", type=int, metavar="SEEDS", help="train so many seeds, print them, write nothing")
    parser.add_argument("--picture", type=Path, help="draw the film strip of the bundled network, train nothing")
    options = parser.parse_args()
    if options.picture:
        from polyfold.datasets.blobs import blobs, blobs_data

        pf.layers.film_strip(pf.layers.truncation(blobs()), *blobs_data(), out=options.picture)
        return
    for seed in range(options.scan) if options.scan else [SEED]:
        layers, right = train(seed)
        print(f"seed {seed}: {right:.1%} right; {pf.layers.truncation(layers).interpret(*clusters())}")
    if not options.scan:
        points, labels = clusters()
        arrays = {f"{name}{k}": part for k, pair in enumerate(layers, 1) for name, part in zip("Wb", pair, strict=True)}
        np.savez(TARGET, X=points, y=labels, **arrays)


if __name__ == "__main__":
    main()
