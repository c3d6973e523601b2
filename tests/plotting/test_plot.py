"""pf.plot itself: kinds, renderers, files, and one clear error for whatever is wrong."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import polyfold as pf
from helpers.plotted_networks import random_layers
from polyfold.errors import DomainError, PolyfoldError, ShapeError, StorageError
from polyfold.plotting.api import KINDS, kinds_of

ATLAS = pf.unfold(random_layers(0, 5), pf.box(-1, 1))


def test_every_kind_of_the_table_can_be_imported() -> None:
    from polyfold.plotting.api import _maker

    assert all(callable(_maker(kind)) for kind in KINDS)
    assert len({(kind.of, kind.name, kind.dims) for kind in KINDS}) == len(KINDS)


@pytest.mark.parametrize("renderer", ["plotly", "matplotlib"])
@pytest.mark.parametrize(
    "make",
    [
        lambda atlas: atlas,
        pf.regions,
        pf.stats.classes,
        pf.stats.decision_boundary,
        lambda atlas: pf.stats.boxes(atlas, ids=[0, 1]),
    ],
)
def test_results_are_drawn_as_they_are(make: object, renderer: str) -> None:
    figure = pf.plot(make(ATLAS), renderer=renderer, title="a title")
    assert type(figure).__module__.split(".")[0] == renderer
    text = figure.layout.title.text if renderer == "plotly" else figure.axes[0].get_title()
    assert text == "a title"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"kind": "cell"}, r"kind='cell' cannot be drawn of this Atlas: use one of 'cells'.*'folds'"),
        ({"renderer": "gnuplot"}, r"renderer must be 'plotly' or 'matplotlib', got 'gnuplot'"),
        ({"color": "class"}, r"there is no option color='class' here: there are colour, output, view"),
        ({"kind": "folds", "colour": "class"}, r"there is no option colour='class' here"),
        ({"view": (0, 1)}, "four numbers"),
        ({"X": [[0.0, 1.0, 2.0]]}, r"X must be rows of 2 numbers.*\(1, 3\)"),
        ({"X": [[0.0, np.nan]]}, r"X\[0, 1\] is nan: every entry must be a finite number"),
        ({"y": [1]}, "y belongs to X"),
        ({"X": [[0.0, 0.0]], "y": [1, 2]}, "one label per row of X, which has 1 row"),
        ({"feature_names": ["x"]}, "there are 2 features"),
        ({"output_names": ["x"]}, "there are 3 outputs"),
        ({"kind": "folds", "layer": 3}, "layer 3"),
    ],
)
def test_what_cannot_be_drawn_is_said(options: dict[str, object], said: str) -> None:
    with pytest.raises((PolyfoldError, IndexError), match=said):
        pf.plot(ATLAS, **options)


@pytest.mark.parametrize(
    ("thing", "said"),
    [
        (random_layers(0, 5), r"cannot be drawn: pf.plot takes Atlas, .*pf.unfold"),
        (42, "42 cannot be drawn"),
        (pf.unfold([(np.eye(4), np.zeros(4)), (np.ones((1, 4)), np.zeros(1))], pf.box(-1, 1)), "pf.plane"),
    ],
)
def test_things_that_have_no_picture(thing: object, said: str) -> None:
    with pytest.raises(PolyfoldError, match=said):
        pf.plot(thing)


def test_kinds_depend_on_the_dimension() -> None:
    assert {"cells", "folds"} <= {kind.name for kind in kinds_of(ATLAS)}
    line = pf.unfold([([[1.0]], [0.0]), ([[1.0]], [0.0])], pf.box(-1, 1))
    assert "folds" not in {kind.name for kind in kinds_of(line)}


def test_a_page_needs_nothing_else(tmp_path: Path) -> None:
    for name in ("a.html", "b.html"):
        pf.plot(ATLAS, out=tmp_path / name)
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert text == (tmp_path / "b.html").read_text(encoding="utf-8")
    # All scripts are in the page: none is fetched.
    assert not re.search(r"<script[^>]*\ssrc=|<link[^>]*\shref=", text)
    assert 'id="figure"' in text


def test_files_of_both_renderers(tmp_path: Path) -> None:
    figure = pf.plot(ATLAS, out=tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text())["data"] == json.loads(figure.to_json())["data"]
    for ending, head in ((".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")):
        for name in ("a", "b"):
            pf.plot(ATLAS, renderer="matplotlib", out=tmp_path / (name + ending))
        written = (tmp_path / ("a" + ending)).read_bytes()
        assert written.startswith(head) and written == (tmp_path / ("b" + ending)).read_bytes()


@pytest.mark.parametrize(("renderer", "name"), [("plotly", "a.png"), ("matplotlib", "a.html"), ("plotly", "a")])
def test_an_ending_that_is_not_written(renderer: str, name: str, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"renderer='matplotlib' writes \.png, \.svg, \.pdf"):
        pf.plot(ATLAS, renderer=renderer, out=tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_errors_are_of_the_right_kind() -> None:
    with pytest.raises(DomainError):
        pf.plot(ATLAS, view=(1, 0, 0, 1))
    with pytest.raises(ShapeError):
        pf.plot(ATLAS, X="points")
