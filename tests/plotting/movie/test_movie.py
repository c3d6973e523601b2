"""Movies are checked as data: pixels and polygons against the class that the network itself gives there."""

from __future__ import annotations

import gc
import json
import re
import stat
from base64 import b64decode
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import polyfold as pf
from polyfold._base.clock import Progress
from polyfold.errors import DomainError, LimitError, PolyfoldError, ShapeError, StorageError
from polyfold.plotting.geometry.film import Frame, film_of
from polyfold.plotting.render.frames import Layout, layout
from polyfold.plotting.render.style import CLASS_COLOURS, class_colour, soft
from polyfold.plotting.scene.training import Legend, frame_scene

pytest.importorskip("matplotlib")
Image = pytest.importorskip("PIL.Image")
FRAMES = 5
BOX = pf.box([-1.0, -0.5], [1.0, 1.0])
LO, HI = np.array([-1.0, -0.5]), np.array([1.0, 1.0])


def recorded(widths: tuple[int, ...], seed: int) -> pf.training.Recording:
    """A recording of weights that move from some random ones to others."""
    rng = np.random.default_rng(seed)
    layers = [(rng.normal(size=(m, n)), 0.5 * rng.normal(size=m)) for n, m in pairwise(widths)]
    recorder = pf.training.record(layers)
    for step in range(1, FRAMES):
        for weight, bias in layers:
            weight += 0.3 * rng.normal(size=weight.shape)
            bias += 0.2 * rng.normal(size=bias.shape)
        recorder.step(loss=1.0 / step)
    return recorder.recording


@pytest.fixture(scope="module")
def recording() -> pf.training.Recording:
    return recorded((2, 6, 5, 3), 10)


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.uniform(LO, HI, size=(12, 2)), rng.integers(0, 3, 12)


def said_by(network: pf.Network, points: np.ndarray) -> np.ndarray:
    """The class in floats, and -1 where two outputs are too close to tell."""
    outputs = np.sort(network(points), axis=1)
    return np.where(outputs[:, -1] - outputs[:, -2] < 1e-6, -1, network(points).argmax(axis=1))


def decoded(path: Path) -> tuple[dict, list[dict]]:
    """What a player holds, read here from its page."""
    page = path.read_text(encoding="utf-8")
    film, frames = (
        json.loads(re.search(rf'id="{name}">(.*?)</script>', page, re.DOTALL).group(1)) for name in ("film", "frames")
    )
    for frame in frames:
        n, rows = frame["polygons"], film["rows"]
        parts = [
            ("values", "<f4", n if film["scale"] else 0),
            ("maps", "<f4", 3 * rows * n),
            ("cell", "<u4", n),
            ("count", "<u2", n),
            ("label", "<u2", n),
            ("corner", "<u2", 2 * frame["corners"]),
            ("boundary", "<u2", 4 * frame["pieces"]),
        ]
        data, offset = b64decode(frame["arrays"]), 0
        for name, kind, count in parts:
            frame[name] = np.frombuffer(data, kind, count, offset)
            offset += frame[name].nbytes
        assert offset == len(data)
        ends = np.cumsum(frame["count"].astype(int))
        frame["shapes"] = np.split(frame["corner"].reshape(-1, 2).astype(int), ends[:-1])
        frame["maps"] = frame["maps"].reshape(n, rows, 3)
    return film, frames


def twice_the_area(corners: np.ndarray) -> int:
    after = np.roll(corners, -1, axis=0)
    return int((corners[:, 0] * after[:, 1] - corners[:, 1] * after[:, 0]).sum())


def holds(corners: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Which points lie inside a convex polygon whose corners go counter-clockwise."""
    along = np.roll(corners, -1, axis=0) - corners
    away = points[:, None] - corners
    return (along[:, 0] * away[..., 1] - along[:, 1] * away[..., 0] > 0).all(axis=1)


# -- what is shown


def test_frames_say_what_the_networks_say(recording, data):
    X, y = data
    for number, frame in enumerate(film_of(recording, BOX, X=X, y=y)):
        network = recording.network(number)
        assert (frame.snapshot, frame.step, frame.cells) == (number, number, len(pf.unfold(network, BOX)))
        assert frame.accuracy == (network(X).argmax(axis=1) == y).mean()
        assert frame.shapes.areas.sum() == pytest.approx(3.0, rel=1e-12)
        for i in range(len(frame.shapes)):
            middle = frame.shapes.corners(i).mean(axis=0)
            out = network(middle[None])[0]
            np.testing.assert_allclose(frame.A[frame.cell[i]] @ middle + frame.c[frame.cell[i]], out, atol=1e-12)
            if frame.shapes.areas[i] > 1e-6:
                assert frame.label[i] == out.argmax()
        # Along the boundary the two largest outputs are the same.
        largest = np.sort(network(frame.boundary.reshape(-1, 2)), axis=1)
        np.testing.assert_allclose(largest[:, -1], largest[:, -2], atol=1e-9)
        lengths = np.linalg.norm(frame.boundary[:, 1] - frame.boundary[:, 0], axis=1)
        assert lengths.sum() == pytest.approx(
            pf.stats.decision_boundary(pf.unfold(network, BOX)).measures.sum(), rel=1e-12
        )


def test_limits_hold_for_all_frames(recording):
    film = film_of(recording, BOX, colour="output", output=2)
    lo, hi = film.limits()
    values = np.concatenate([frame.values for frame in film])
    assert (values.min(), values.max()) == (lo, hi) and lo < hi
    frame = film.frame(3)
    middles = np.array([frame.shapes.corners(i).mean(axis=0) for i in range(len(frame.shapes))])
    np.testing.assert_allclose(frame.values, recording.network(3)(middles)[:, 2], atol=1e-12)


@pytest.mark.parametrize(
    ("frames", "expected"),
    [(None, [0, 1, 2, 3, 4]), (3, [0, 2, 4]), (1, [0]), (99, [0, 1, 2, 3, 4]), ([3, -1], [3, 4])],
)
def test_which_frames(recording, frames, expected):
    assert film_of(recording, BOX, frames=frames).snapshots.tolist() == expected


def test_domains(recording, data):
    assert film_of(recording, (-1, 1, 0, 2)).view.hi.tolist() == [1, 2]
    around = film_of(recording, None, X=data[0]).view
    assert (around.lo < data[0].min(axis=0)).all() and (around.hi > data[0].max(axis=0)).all()


# -- as pixels


def coloured(picture: np.ndarray, place: Layout, points: np.ndarray, off: int) -> np.ndarray:
    """The class whose colour, but for `off`, the 3 x 3 pixels around each point have; -1 where they differ."""
    share = (points - LO) / (HI - LO)
    column = np.floor(place.left + share[:, 0] * (place.right - place.left)).astype(int)
    row = np.floor(place.bottom - share[:, 1] * (place.bottom - place.top)).astype(int)
    known = np.array([[int(soft(class_colour(k))[i : i + 2], 16) for i in (1, 3, 5)] for k in range(3)])
    around = np.array([(dr, dc) for dr in (-1, 0, 1) for dc in (-1, 0, 1)])
    seen = picture[row[:, None] + around[:, 0], column[:, None] + around[:, 1]].astype(int)
    distance = np.abs(seen[:, :, None] - known).max(axis=3)
    near = np.where(distance.min(axis=2) <= off, distance.argmin(axis=2), -1)
    return np.where((near == near[:, :1]).all(axis=1), near[:, 0], -1)


def check_pixels(pictures: list[np.ndarray], recording: pf.training.Recording, place: Layout, *, off: int) -> None:
    points = np.random.default_rng(3).uniform(LO + 0.02, HI - 0.02, size=(2000, 2))
    for number, picture in enumerate(pictures):
        assert picture.shape == (place.height, place.width, 3)
        told, seen = said_by(recording.network(number), points), coloured(picture, place, points, off)
        both = (told >= 0) & (seen >= 0)
        # Where it is another colour there is a line.
        assert both.mean() > 0.5
        assert (told[both] == seen[both]).all()


def place_of(recording: pf.training.Recording, size: int) -> Layout:
    film = film_of(recording, BOX, frames=1)
    legend = Legend(("x0", "x1"), ("a", "b", "c"), "class", (0, 2), "step")
    return layout(frame_scene(film, film.frame(0), legend), size)


def test_gif(recording, tmp_path):
    made = pf.training.movie(recording, BOX, out=tmp_path / "a.gif", size=400, fps=20)
    assert made.steps.tolist() == [0, 1, 2, 3, 4] and made.accuracy is None
    with Image.open(made.path) as image:
        assert (image.n_frames, image.info["loop"]) == (FRAMES, 0)
        pictures, durations = [], []
        for number in range(FRAMES):
            image.seek(number)
            durations.append(image.info["duration"])
            pictures.append(np.array(image.convert("RGB")))
    assert durations == [50, 50, 50, 50, 1500]
    check_pixels(pictures, recording, place_of(recording, 400), off=0)


def test_mp4(recording, tmp_path):
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    made = pf.training.movie(recording, BOX, out=tmp_path / "a.mp4", size=401, fps=5)
    frames, seconds = ffmpeg.count_frames_and_secs(str(made.path))
    assert (frames, seconds) == (FRAMES, pytest.approx(1.0, abs=0.05))
    reader = ffmpeg.read_frames(str(made.path))
    facts = next(reader)
    assert facts["codec"] == "h264" and facts["pix_fmt"].startswith("yuv420p")
    width, height = facts["size"]
    assert width % 2 == height % 2 == 0
    pictures = [np.frombuffer(frame, np.uint8).reshape(height, width, 3) for frame in reader]
    assert len(pictures) == FRAMES
    check_pixels(pictures, recording, place_of(recording, 401), off=12)


def test_notebooks_show_the_movie(recording, tmp_path):
    for kind, start in (("gif", '<img src="data:image/gif;base64,R0lGODlh'), ("html", '<iframe srcdoc="&lt;!doctype')):
        made = pf.training.movie(recording, BOX, out=tmp_path / f"a.{kind}", size=120, frames=1)
        assert made._repr_html_().startswith(start)
        made.path.unlink()
        assert made._repr_html_().startswith("Movie: 1 frame, 0.1 seconds, written to")


def test_a_scale_of_colours(recording, tmp_path):
    made = pf.training.movie(recording, BOX, out=tmp_path / "a.gif", size=240, colour="slope", frames=2)
    with Image.open(made.path) as image:
        assert image.n_frames == 2 and image.width <= 240


# -- as a player


def test_player_covers_the_view_once(recording, data, tmp_path):
    X, y = data
    made = pf.training.movie(
        recording, BOX, out=tmp_path / "a.html", X=X, y=y, output_names=["a", "<b>", "c"], title="<i>"
    )
    page = made.path.read_text(encoding="utf-8")
    assert "&lt;i&gt;" in page and "<b>" not in page and "http://" not in page and "https://" not in page
    film, frames = decoded(made.path)
    assert film["view"] == [-1, 1, -0.5, 1] and film["classes"] == ["a", "<b>", "c"]
    assert film["colours"] == list(CLASS_COLOURS) and film["pointLabels"] == y.tolist()
    at = np.frombuffer(b64decode(film["points"]), "<u2").reshape(-1, 2)
    np.testing.assert_allclose(LO + at / 65535 * (HI - LO), X, atol=2 / 65535)
    assert [frame["step"] for frame in frames] == [0, 1, 2, 3, 4]
    assert [frame["cells"] for frame in frames] == made.cells.tolist()
    assert [frame["said"] for frame in frames] == [
        f"step {k} · {made.cells[k]} cells · accuracy {100 * made.accuracy[k]:.1f} %" for k in range(FRAMES)
    ]
    assert [frame["logged"]["loss"] for frame in frames] == [None, 1.0, 1 / 2, 1 / 3, 1 / 4]
    points = np.random.default_rng(5).uniform(0, 65535, size=(300, 2))
    inputs = LO + points / 65535 * (HI - LO)
    for number, frame in enumerate(frames):
        boundary = LO + frame["boundary"].reshape(-1, 2) / 65535 * (HI - LO)
        largest = np.sort(recording.network(number)(boundary), axis=1)
        np.testing.assert_allclose(largest[:, -1], largest[:, -2], atol=1e-3)
        # Corners are whole numbers that neighbours share, so that areas add up exactly.
        assert sum(map(twice_the_area, frame["shapes"])) == 2 * 65535**2
        network = recording.network(number)
        told, outputs = said_by(network, inputs), network(inputs)
        times = np.zeros(len(points), dtype=int)
        for i, corners in enumerate(frame["shapes"]):
            inside = holds(corners, points)
            times += inside
            right = told[inside] == frame["label"][i]
            # Rounded corners move the boundary by less than a unit; no sample is that close.
            assert (right | (told[inside] < 0)).all()
            ones = np.column_stack([inputs[inside], np.ones(inside.sum())])
            np.testing.assert_allclose(ones @ frame["maps"][i].T, outputs[inside], atol=1e-4)
        assert (times == 1).mean() > 0.99 and times.max() == 1
        assert frame["cell"].max() == frame["cells"] - 1


def test_player_of_a_scale_and_of_many_outputs(tmp_path):
    wide = recorded((2, 5, 6), 2)
    made = pf.training.movie(wide, BOX, out=tmp_path / "a.html", colour="output", output=4, frames=2)
    film, frames = decoded(made.path)
    assert film["rows"] == 1 and film["outputs"] == 6 and film["label"] == "output 4 in the middle"
    assert any("largest output" in note for note in film["notes"])
    lo, hi = film["limits"]
    for snapshot, frame in zip(made.snapshots.tolist(), frames, strict=True):
        network = wide.network(snapshot)
        middles = np.array([corners.mean(axis=0) for corners in frame["shapes"]])
        large = np.array([twice_the_area(corners) for corners in frame["shapes"]]) > 2_000_000
        outputs = network(LO + middles / 65535 * (HI - LO))
        np.testing.assert_allclose(frame["values"], outputs[:, 4], atol=1e-3)
        assert frame["values"].min() >= lo - 1e-4 and frame["values"].max() <= hi + 1e-4
        ones = np.column_stack([LO + middles / 65535 * (HI - LO), np.ones(len(middles))])
        values = np.einsum("nk,nk->n", frame["maps"][:, 0], ones)
        np.testing.assert_allclose(values[large], outputs.max(axis=1)[large], atol=1e-3)


def test_a_plane_through_more_inputs(tmp_path):
    five = recorded((5, 6, 2), 4)
    rng = np.random.default_rng(7)
    p, q, r = rng.normal(size=(3, 5))
    X = rng.normal(size=(30, 5))
    made = pf.training.movie(five, pf.plane(p, q, r), out=tmp_path / "a.html", X=X, y=np.zeros(30, int), frames=2)
    film, frames = decoded(made.path)
    assert film["axes"] == ["u0", "u1"] and film["points"] == "" and "30 data points count" in film["notes"][0]
    assert made.accuracy[1] == (five.network(4)(X).argmax(axis=1) == 0).mean()
    points = rng.uniform(0, 65535, size=(200, 2))
    u = points / 65535
    told = said_by(five.network(4), p + u[:, :1] * (q - p) + u[:, 1:] * (r - p))
    for corners, label in zip(frames[1]["shapes"], frames[1]["label"], strict=True):
        assert np.isin(told[holds(corners, points)], [label, -1]).all()


@pytest.mark.parametrize("kind", ["gif", "html"])
@pytest.mark.parametrize("colour", ["class", "output", "volume"])
def test_networks_that_say_little(tmp_path, kind, colour):
    """No gates, one value everywhere, or values that are no floats any more: still a movie."""
    layers = [(np.zeros((1, 2)), np.zeros(1))]
    recorder = pf.training.record(layers)
    layers[0][0][0, 0] = 1.0
    recorder.step(loss=np.inf)
    layers[0][0][0, 1] = layers[0][1][0] = 1.5e308
    recorder.step(loss=np.nan)
    made = pf.training.movie(recorder.recording, BOX, out=tmp_path / f"a.{kind}", colour=colour, size=120)
    assert made.cells.tolist() == [1, 1, 1]


# -- what can go wrong


def test_one_frame_at_a_time(recording, tmp_path):
    alive = []

    def look(event: Progress) -> None:
        if event.what != "frames":
            return
        gc.collect()
        alive.append(sum(type(thing) is Frame for thing in gc.get_objects()))

    pf.training.movie(recording, BOX, out=tmp_path / "a.gif", size=120, progress=look)
    assert len(alive) == FRAMES and max(alive) <= 1


@pytest.mark.parametrize("kind", ["mp4", "gif", "html"])
def test_an_interrupt_leaves_nothing_half_written(recording, tmp_path, kind):
    target = tmp_path / f"a.{kind}"
    target.write_text("from before")

    def stop(event: Progress) -> None:
        if event.done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pf.training.movie(recording, BOX, out=target, size=120, progress=stop)
    assert [path.name for path in tmp_path.iterdir()] == [target.name]
    assert target.read_text() == "from before"


def test_what_ffmpeg_says_is_passed_on(recording, tmp_path, monkeypatch):
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "ffmpeg"
    program.write_text("#!/bin/sh\necho 'first line' >&2\necho 'no encoder of that name' >&2\nexit 1\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(folder))
    with pytest.raises(StorageError, match="ffmpeg failed: no encoder of that name"):
        pf.training.movie(recording, BOX, out=tmp_path / "a.mp4", size=120)
    assert [path.name for path in tmp_path.iterdir()] == ["bin"]


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"out": "a.avi"}, StorageError, r"'a.avi' must end in .mp4, .gif, .html"),
        ({"out": "no/such/a.gif"}, StorageError, "there is no folder 'no/such'"),
        ({"fps": 0}, PolyfoldError, "fps=0 must be"),
        ({"fps": float("nan")}, PolyfoldError, "fps=nan must be"),
        ({"size": 10}, PolyfoldError, "size=10 must be a whole number of pixels from 64"),
        ({"colour": "red"}, PolyfoldError, "colour must be one of 'class', 'output'.* got 'red'"),
        ({"output": 3}, PolyfoldError, "there is no output 3: the network has 3"),
        ({"frames": 0}, PolyfoldError, "frames=0 shows nothing"),
        ({"frames": []}, PolyfoldError, "shows nothing"),
        ({"frames": "all"}, PolyfoldError, "frames='all' must be how many"),
        ({"frames": [9]}, IndexError, "there is no snapshot 9"),
        ({"output_names": ["a"]}, PolyfoldError, "there are 3 class names"),
        ({"threshold": 1.0}, PolyfoldError, "a threshold is for one output"),
        ({"X": [[1.0, 2.0, 3.0]]}, ShapeError, r"X must be rows of 2 numbers, or one such row; its shape is \(1, 3\)"),
        ({"X": [[1.0, np.inf]]}, ShapeError, "finite"),
        ({"y": [1]}, ShapeError, "y belongs to X"),
        ({"X": [[0.0, 0.0]], "y": [1, 2]}, ShapeError, "one label per row of X, which has 1 row"),
        ({"X": [[0.0, 0.0]], "y": [3]}, ShapeError, r"y\[0\] is 3: labels must be numbers of classes, 0 to 2"),
        ({"domain": None}, DomainError, "needs a bounded domain, such as pf.box"),
        ({"domain": pf.box([0, 0], [1, np.inf])}, DomainError, "needs a bounded domain"),
        ({"domain": pf.line([0, 0], [1, 1])}, DomainError, "dimension 2, not 1"),
        ({"domain": (0, 1, 2)}, DomainError, "four numbers x0, x1, y0, y1"),
        ({"max_cells": 3}, LimitError, "snapshot 0 has more than 3 cells"),
    ],
)
def test_bad_input(recording, tmp_path, monkeypatch, options, error, match):
    monkeypatch.chdir(tmp_path)
    asked = {"domain": BOX, "out": "a.html", **options}
    with pytest.raises(error, match=match):
        pf.training.movie(recording, asked.pop("domain"), **asked)
    assert not list(tmp_path.iterdir())


def test_not_a_recording(tmp_path):
    with pytest.raises(PolyfoldError, match=r"asked of a recording, not of 'x'"):
        pf.training.movie("x", BOX, out=tmp_path / "a.html")
