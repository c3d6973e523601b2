"""Draw the cells of the bundled Iris network, in the colours of the species: docs/images/iris.svg.

python tools/draw_atlas.py [--out FILE]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import polyfold as pf
from polyfold.datasets import read

TARGET = Path(__file__).parents[1] / "docs" / "images" / "iris.svg"


def main() -> None:
    """Draw and write."""
    parser = argparse.ArgumentParser(description="Draw the bundled Iris network's cells.")
    parser.add_argument("--out", type=Path, default=TARGET, help=".svg, .png or .pdf")
    out = parser.parse_args().out
    network = read("iris")
    atlas = pf.unfold(list(network.layers), pf.box([0, 0], [8, 3]))
    title = f"{len(atlas)} cells of a 5-7-4 network on Iris"
    names = {"inputs": network.inputs, "outputs": network.outputs}
    out.parent.mkdir(parents=True, exist_ok=True)
    pf.plot(atlas, colour="class", title=title, **names, renderer="matplotlib", out=out)
    print(f"written to {out}")


if __name__ == "__main__":
    main()
