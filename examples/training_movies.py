"""Movies of section 4 of "Locally Linear Attributes of ReLU Neural Networks", made anew.

    python examples/training_movies.py [--out FOLDER] [--only NAME ...] [--kinds html gif mp4] [--frames N]

A circle inside an annulus, with three hidden nodes (figure 8) and with three layers of eight (figures 5 and 9); and the
same problem combined with XOR, with three layers of eight (figure 10). Each is trained in torch, recorded, and shown as
an HTML player, a GIF and an MP4. Of networks with layers there is a picture too: where each layer's neurons switch at
the end, over those of earlier layers (figure 5). Recordings are kept beside them, for `polyfold movie`.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import polyfold as pf
from studies.annuli import EXTENT, trained

KINDS = ("html", "gif", "mp4")


@dataclass(frozen=True)
class Example:
    """One movie: the problem, the widths of hidden layers, and how it is trained."""

    problem: str
    hidden: tuple[int, ...]
    title: str
    epochs: int
    every: int
    seed: int


EXAMPLES = {
    "circle_3": Example("circle", (3,), "Circle and annulus, three hidden nodes", 600, 6, 0),
    "circle_8_8_8": Example("circle", (8, 8, 8), "Circle and annulus, three layers of eight", 300, 3, 0),
    "xor_8_8_8": Example("xor", (8, 8, 8), "XOR of circles and annuli, three layers of eight", 1200, 12, 0),
}


def make(name: str, folder: Path, kinds: list[str], frames: int | None) -> None:
    """Train one example and write its movies; a line for each file says how long it took."""
    example = EXAMPLES[name]
    path = folder / f"{name}.recording"
    path.unlink(missing_ok=True)
    begun = time.perf_counter()
    found = trained(
        example.problem, example.hidden, epochs=example.epochs, every=example.every, seed=example.seed, path=path
    )
    print(f"{path}: {len(found.recording)} snapshots, {time.perf_counter() - begun:.1f} s")
    for kind in kinds:
        begun = time.perf_counter()
        made = pf.training.movie(
            found.recording,
            domain=pf.box(*EXTENT),
            out=folder / f"{name}.{kind}",
            X=found.data,
            y=found.labels,
            frames=frames,
            size=480 if kind == "gif" else 720,
            title=example.title,
            step_name="epoch",
            output_names=("annulus", "circle") if example.problem == "circle" else None,
            progress=sys.stderr.isatty(),
        )
        assert made.accuracy is not None
        cells, right = f"{made.cells[0]} to {made.cells[-1]} cells", f"accuracy {100 * made.accuracy[-1]:.1f} %"
        cost = f"{made.path.stat().st_size / 1e6:.2f} MB, {time.perf_counter() - begun:.1f} s"
        print(f"{made.path}: {len(made)} frames, {cells}, {right}, {cost}")
    if len(example.hidden) > 1:
        path = folder / f"{name}_folds.png"
        atlas = pf.unfold(found.recording.network(-1), pf.box(*EXTENT))
        pf.plot(atlas, kind="folds", boundary=True, renderer="matplotlib", title=example.title, out=path)
        print(f"{path}: {len(atlas)} cells, layer by layer")


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Movies of networks in training, of paper 001's problems.")
    parser.add_argument("--out", type=Path, default=Path("movies"), metavar="FOLDER", help="where to write them")
    parser.add_argument("--only", nargs="+", choices=list(EXAMPLES), default=list(EXAMPLES), metavar="NAME")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), metavar="KIND")
    parser.add_argument("--frames", type=int, metavar="N", help="show so many snapshots; all if left out")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.only:
        make(name, options.out, options.kinds, options.frames)


if __name__ == "__main__":
    main()
