"""The explorer's page in a real browser, against the real server and the library's own numbers."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polyfold as pf
from helpers.browsing import Visitor, random_network, running_browser
from helpers.cpu_time import for_many_tests
from helpers.explorers import Explorer
from polyfold.datasets import iris
from polyfold.datasets.blobs import blobs, blobs_data

IRIS = "#network=iris&domain=box:0,0:8,8"
Visit = Callable[..., Visitor]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with ExitStack() as ends:
        with for_many_tests():
            found = ends.enter_context(running_browser())
        yield found
        with for_many_tests():
            ends.close()


@pytest.fixture
def visit(browser: Any, explorer: Explorer) -> Iterator[Visit]:
    """Visitors to the page; at the end none may have seen an error in the console."""
    visitors: list[Visitor] = []

    def come(**settings: Any) -> Visitor:
        visitors.append(Visitor(browser, explorer.address, **settings))
        return visitors[-1]

    yield come
    for visitor in visitors:
        visitor.goes()


@pytest.fixture(scope="module")
def atlas() -> pf.Atlas:
    """What the page shows at `IRIS`."""
    return pf.unfold(iris(), pf.box(0, 8))


def maps_shown(visitor: Visitor) -> tuple[np.ndarray, np.ndarray]:
    """(A, c) as the Copy button gives them: with all digits."""
    visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visitor.page.locator("#panel h4", has_text="Map").get_by_role("button", name="Copy").click()
    visitor.page.get_by_text("Copied, with all digits.").wait_for()
    found = json.loads(visitor.page.evaluate("navigator.clipboard.readText()"))
    return np.array(found["A"]), np.array(found["c"])


def test_unfolds_and_reads_a_cell_as_the_library_does(visit: Visit, atlas: pf.Atlas) -> None:
    visitor = visit().opens(IRIS)
    assert visitor.says.startswith(f"{len(atlas)} cells") and "all there are here" in visitor.says
    for point in ([6.0, 5.0], [1.0, 0.3], [3.5, 1.2]):
        expected = atlas[int(atlas.locate([point])[0])]
        assert visitor.clicks(*point) == expected.id
        A, c = maps_shown(visitor)
        np.testing.assert_array_equal(A, expected.map[0])
        np.testing.assert_array_equal(c, expected.map[1])
        # What is read on the page is the same, rounded; the full value is in the title.
        shown = [
            float(text)
            for text in visitor.page.locator("#panel .maps data").evaluate_all("all => all.map(each => each.title)")
        ]
        assert shown == [value for row, last in zip(A, c, strict=True) for value in (*row, last) if value]
        neighbours = {
            int(text)
            for text in visitor.page.locator("#panel [data-cell]").evaluate_all(
                "all => all.map(each => each.dataset.cell)"
            )
        }
        assert neighbours == {each.id for each in expected.neighbours}
        assert visitor.page.inner_text("#panel .pattern").split() == expected.pattern.split()


def test_pictures_show_the_class_at_every_point(visit: Visit, atlas: pf.Atlas) -> None:
    visitor = visit().opens(IRIS)
    palette = visitor.page.evaluate("polyfold.pane.colouring.lut")[1:]
    colours = [tuple(int(text[k : k + 2], 16) for k in (1, 3, 5)) for text in palette]
    areas = visitor.page.evaluate("Array.from(polyfold.pane.cells.columns.area.subarray(0, polyfold.pane.cells.size))")
    assert sum(areas) == pytest.approx(64)
    points = np.random.default_rng(1).uniform(0, 8, (400, 2))
    winners = atlas.program.evaluate(points)[0].argmax(axis=1)
    seen = visitor.page.evaluate(
        """(points) => points.map(([x, y]) => {
            const { camera, context } = polyfold.pane;
            const [px, py] = camera.toPixel(x, y).map(Math.floor);
            return [...context.getImageData(px - 1, py - 1, 3, 3).data];
        })""",
        points.tolist(),
    )
    compared = 0
    for around, winner in zip(seen, winners.tolist(), strict=True):
        pixels = {tuple(around[k : k + 3]) for k in range(0, 36, 4)}
        if len(pixels) == 1:  # else a line passes by
            assert pixels == {colours[winner]}
            compared += 1
    assert compared > 200


def test_walks_to_neighbours_by_button_and_by_arrow(visit: Visit, atlas: pf.Atlas) -> None:
    visitor = visit().opens(IRIS)
    first = visitor.clicks(6.0, 5.0)
    button = visitor.page.locator("#panel [data-cell]").first
    target = int(button.get_attribute("data-cell"))
    button.click()
    visitor.until(f"polyfold.selection.cell?.cell === {target}")
    assert visitor.cell == target and target in {each.id for each in atlas[first].neighbours}
    # An arrow leads through the facet that a straight way from the centre in its direction meets first.
    visitor.page.locator("#picture").focus()
    centre = np.array(visitor.page.evaluate("polyfold.selection.cell.centre"))
    rows, offsets = atlas[target].halfspaces
    with np.errstate(divide="ignore"):
        reach = np.where(rows[:, 1] < 0, (offsets - rows @ centre) / -rows[:, 1], np.inf)
    below = int(atlas.neighbour[atlas[target].facets[int(reach.argmin())]])
    visitor.page.keyboard.press("ArrowDown")
    if below < 0:
        visitor.page.get_by_text("Here the domain ends").wait_for()
    else:
        visitor.until(f"polyfold.selection.cell?.cell === {below}")


def test_cancels_a_long_job(visit: Visit, tmp_path: Path) -> None:
    visitor = visit().opens(IRIS).uploads(random_network(tmp_path / "large.onnx", 2, 400, 400, 400, 2))
    visitor.until("polyfold.picture?.task.network === polyfold.state.network && polyfold.picture.state === 'running'")
    visitor.until("polyfold.network.name === 'large.onnx' && polyfold.pane.cells.size > 0")
    assert visitor.page.locator("#progress").is_visible()
    visitor.page.get_by_role("button", name="Cancel").click()
    visitor.page.get_by_text("Cancelled.").wait_for()
    assert not visitor.page.locator("#progress").is_visible()
    jobs = visitor.page.evaluate("fetch('/api/jobs').then((answer) => answer.json())")["jobs"]
    assert jobs[-1]["state"] == "cancelled"
    # What was found stays, and the page goes on working.
    assert visitor.page.evaluate("polyfold.pane.cells.size") > 0
    visitor.page.select_option("#network", "blobs")
    visitor.waits()
    assert "all there are here" in visitor.says


def test_says_what_is_wrong_with_a_file(visit: Visit, tmp_path: Path, atlas: pf.Atlas) -> None:
    visitor = visit().opens(IRIS)
    for name, content in (("broken.onnx", b"no network"), ("weights.pkl", b"\x80\x04.")):
        (tmp_path / name).write_bytes(content)
        visitor.uploads(tmp_path / name)
        visitor.page.locator("#status.error", has_text=name).wait_for()
        assert visitor.page.evaluate("polyfold.pane.cells.size") == len(atlas)
    visitor.page.get_by_label("x0 from").fill("nine")
    visitor.page.get_by_role("button", name="Unfold").click()
    assert visitor.says == "x0 from: “nine” is not a number."
    # Browsers note refused requests in the console; there are two, and nothing else.
    assert len(visitor.complaints) == 2 and all("422" in each for each in visitor.complaints)
    visitor.complaints.clear()


def test_two_visitors_at_once_do_not_meet(visit: Visit, tmp_path: Path) -> None:
    sizes = {"one.onnx": (2, 30, 30, 2), "two.onnx": (2, 24, 24, 3)}
    expected = {}
    for name, layers in sizes.items():
        path = random_network(tmp_path / name, *layers)
        expected[name] = len(pf.unfold(pf.load(path), pf.box(-1, 1)))
    visitors = {name: visit() for name in sizes}
    for name, visitor in visitors.items():
        visitor.page.goto(visitor.address)
        visitor.until("polyfold.networks.length")
        visitor.uploads(tmp_path / name)
    for name, visitor in visitors.items():
        visitor.until(f"polyfold.network?.name === '{name}' && polyfold.picture.task.network === polyfold.network.id")
        visitor.waits()
        assert visitor.page.evaluate("polyfold.pane.cells.size") == expected[name]
        offered = visitor.page.locator("#network option").all_inner_texts()
        assert name in offered and not set(sizes) - {name} & set(offered)


def test_a_link_restores_everything(visit: Visit) -> None:
    visitor = visit().opens(IRIS)
    number = visitor.clicks(2.0, 4.0)
    visitor.page.select_option("#colour", "slope")
    visitor.page.check("#boundary")
    visitor.page.get_by_role("button", name="Zoom in").click()
    visitor.page.fill("#layer", "2")
    visitor.until("location.hash.includes('view=') && location.hash.includes('layer=2')")
    visitor.waits()
    visitor.page.get_by_role("button", name="Copy link").click()
    view = visitor.page.evaluate("polyfold.pane.camera.seen")
    picture = visitor.page.evaluate("polyfold.pane.canvas.toDataURL()")
    other = visit().opens("#" + visitor.page.url.split("#")[1])
    other.until(f"polyfold.selection.cell?.cell === {number}")
    other.waits()
    assert other.cell == number
    assert other.page.input_value("#colour") == "slope" and other.page.is_checked("#boundary")
    assert other.page.input_value("#layer") == "2"
    assert other.page.evaluate("polyfold.pane.camera.seen") == pytest.approx(view)
    assert other.page.evaluate("polyfold.pane.canvas.toDataURL()") == picture
    other.page.goto("about:blank")
    other.page.goto(f"{other.address}/#network=gone")
    other.page.get_by_text("“gone”, which is not here").wait_for()


def test_everything_can_be_done_with_keys(visit: Visit) -> None:
    visitor = visit().opens(IRIS)
    page, keys = visitor.page, visitor.page.keyboard
    keys.press("Tab")
    keys.press("Enter")
    assert page.evaluate("document.activeElement.id") == "picture"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    keys.press("ArrowRight")
    visitor.until("polyfold.selection.cell")
    first = visitor.cell
    keys.press("ArrowDown")
    visitor.until(f"polyfold.selection.cell.cell !== {first}")
    before = page.evaluate("polyfold.pane.camera.seen")
    keys.press("+")
    zoomed = page.evaluate("polyfold.pane.camera.seen")
    assert zoomed[2] - zoomed[0] < before[2] - before[0]
    keys.press("Shift+ArrowRight")
    assert page.evaluate("polyfold.pane.camera.seen")[0] > zoomed[0]
    keys.press("0")
    assert page.evaluate("polyfold.pane.camera.seen") == pytest.approx(before)
    keys.press("Escape")
    page.get_by_text("No cell chosen").wait_for()
    # The table of cells is another way to the same panel.
    page.locator("#table-of-cells summary").focus()
    keys.press("Enter")
    row = page.locator("#table-of-cells tbody button").first
    row.wait_for()
    row.focus()
    keys.press("Enter")
    visitor.until("polyfold.selection.cell")
    assert row.inner_text() == f"Cell {visitor.cell}"
    # Tab gets everywhere: all that can be used and is shown is reached.
    page.locator("#table-of-cells tr[aria-current]").wait_for()
    page.evaluate("document.activeElement.blur()")
    wanted = page.evaluate(
        """() => {
            window.reached = new Set();
            document.addEventListener("focusin", (event) => window.reached.add(event.target));
            const kinds = "a[href], button, input, select, textarea, summary, canvas";
            const usable = (each) => each.checkVisibility() && !each.disabled;
            window.wanted = [...document.querySelectorAll(kinds)].filter(usable);
            return window.wanted.length;
        }"""
    )
    for _ in range(wanted + 20):
        keys.press("Tab")
    assert (
        wanted > 40 and page.evaluate("wanted.filter((each) => !reached.has(each)).map((each) => each.outerHTML)") == []
    )


def test_everything_has_a_name(visit: Visit, tmp_path: Path) -> None:
    visitor = visit().opens(IRIS)
    visitor.clicks(6.0, 5.0)
    visitor.page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    visitor.uploads(random_network(tmp_path / "five.onnx", 5, 8, 2))
    visitor.until("polyfold.network.name === 'five.onnx'")
    visitor.waits()
    roles = {
        "button",
        "link",
        "combobox",
        "slider",
        "textbox",
        "checkbox",
        "radio",
        "progressbar",
        "application",
        "option",
        "region",
    }
    tree = visitor.context.new_cdp_session(visitor.page).send("Accessibility.getFullAXTree")["nodes"]
    found = [node for node in tree if node.get("role", {}).get("value") in roles and not node["ignored"]]
    nameless = [node for node in found if not node.get("name", {}).get("value")]
    assert len(found) > 30 and not nameless, nameless
    assert visitor.page.get_attribute("#status", "aria-live") == "polite"


def test_fits_on_a_phone(visit: Visit) -> None:
    visitor = visit(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True, device_scale_factor=2)
    visitor.opens(IRIS)
    wide = "document.documentElement.scrollWidth > innerWidth"
    assert not visitor.page.evaluate(wide)
    place = visitor.pixel(6.0, 5.0)
    visitor.page.locator("#picture").tap(position=place)
    visitor.until("polyfold.selection.cell")
    visitor.page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    visitor.page.locator("#table-of-cells tbody button").first.wait_for()
    assert not visitor.page.evaluate(wide)
    # Two fingers that move apart zoom in.
    visitor.page.locator("#picture").scroll_into_view_if_needed()
    box = visitor.page.locator("#picture").bounding_box()
    session = visitor.context.new_cdp_session(visitor.page)
    for kind, half in (("touchStart", 20), ("touchMove", 40), ("touchMove", 80), ("touchEnd", None)):
        fingers = [] if half is None else [-half, half]
        touches = [
            {"x": box["x"] + box["width"] / 2 + away, "y": box["y"] + box["height"] / 2, "id": k}
            for k, away in enumerate(fingers)
        ]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})
    visitor.until("polyfold.pane.camera.zoom > 2")


def test_layers_data_and_files_to_keep(visit: Visit, tmp_path: Path) -> None:
    visitor = visit().opens("#network=blobs&domain=box:-3,-3:3,3")
    atlas = pf.unfold(blobs(), pf.box(-3, 3))
    X, labels = blobs_data()
    with (tmp_path / "points.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [["a", "b", "label"], *([*row, label] for row, label in zip(X.tolist(), labels.tolist(), strict=True))]
        )
    visitor.page.set_input_files("#data", str(tmp_path / "points.csv"))
    visitor.page.get_by_text("180 points from points.csv").wait_for()
    assert visitor.page.inner_text("#data-aside") == ""
    fullest, most = max(zip(*np.unique(atlas.locate(X), return_counts=True), strict=True), key=lambda pair: pair[1])
    assert visitor.clicks(*atlas[int(fullest)].witness.tolist()) == fullest
    visitor.page.get_by_text(f"{most} data points in this cell").wait_for()
    visitor.page.fill("#layer", "2")
    visitor.page.get_by_text("layer 2 of 3; earlier layers in grey").wait_for()
    visitor.page.fill("#layer", "0")
    visitor.page.select_option("#colour", "slope")
    visitor.page.locator("#keep summary").click()
    visitor.waits()

    def kept(name: str) -> Path:
        with visitor.page.expect_download() as waiting:
            visitor.page.locator(name).click()
        path = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(path)
        return path

    svg = kept("#svg").read_text(encoding="utf-8")
    assert svg.count("<polygon") == len(atlas) and svg.count("<circle") == len(X)
    assert kept("#png").read_bytes().startswith(b"\x89PNG")
    assert len(kept("#csv").read_text(encoding="utf-8").splitlines()) == 1 + len(atlas)
    assert len(pf.open(kept("#parquet"))) == len(atlas)
    visitor.page.select_option("#network", "mnist_he")
    visitor.page.get_by_text("Not shown: the points have 2 columns, and the network takes 784 inputs.").wait_for()


def test_compares_two_networks(visit: Visit) -> None:
    visitor = visit().opens("#network=blobs&domain=box:-1,-1:1,1")
    visitor.page.select_option("#compare", "iris")
    visitor.page.get_by_text("Here the two networks are different functions.").wait_for()
    largest = float(pf.equivalent(pf.load(blobs()), pf.load(iris()), pf.box(-1, 1)).max_difference)
    assert float(visitor.page.locator("#difference data").first.get_attribute("title")) == largest
    assert visitor.page.inner_text("#caption-other") == f"iris: {len(pf.unfold(iris(), pf.box(-1, 1)))} cells"
    # Both pictures show the same part of the domain, whichever of them is moved.
    visitor.page.get_by_role("button", name=re.compile("Show the place")).click()
    visitor.page.locator("#picture-other").hover()
    visitor.page.mouse.wheel(0, -200)
    visitor.until("polyfold.comparison.pane.camera.zoom > 5")
    one, other = (visitor.page.evaluate(f"polyfold.{each}.camera.seen") for each in ("pane", "comparison.pane"))
    assert one == pytest.approx(other)


def test_plays_a_training(visit: Visit, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    layers = [(rng.normal(size=(6, 2)), rng.normal(size=6)), (rng.normal(size=(1, 6)), np.zeros(1))]
    with pf.training.record(layers, tmp_path / "training.recording") as recorder:
        for _ in range(3):
            layers[0][1][:] += 0.5
            recorder.step()
    recording = pf.training.open(tmp_path / "training.recording")
    counts = [len(pf.unfold(network, pf.box(-1, 1))) for network in recording]
    visitor = visit().opens(IRIS).uploads(tmp_path / "training.recording")
    visitor.until("polyfold.network.kind === 'recording'")
    visitor.waits()
    assert visitor.page.evaluate("polyfold.pane.cells.size") == counts[-1]
    visitor.page.fill("#frame", "0")
    visitor.until("polyfold.picture.task.snapshot === 0")
    visitor.waits()
    assert visitor.page.evaluate("polyfold.pane.cells.size") == counts[0]
    visitor.page.get_by_role("button", name="Play").click()
    visitor.until("polyfold.state.frame === 3 && !polyfold.player.playing")
    visitor.waits()
    assert visitor.page.inner_text("#frame-says").startswith("step 3")
    assert visitor.page.evaluate("polyfold.pane.cells.size") == counts[-1]


def test_slices_and_graphs(visit: Visit, tmp_path: Path) -> None:
    visitor = visit().opens(IRIS).uploads(random_network(tmp_path / "four.onnx", 4, 9, 9, 2))
    network = pf.load(tmp_path / "four.onnx")
    visitor.until("polyfold.network.name === 'four.onnx'")
    visitor.waits()
    visitor.page.get_by_label("across").select_option("x2")
    visitor.page.get_by_label("x2 from").fill("-2")
    visitor.page.get_by_label("Value of x3").fill("0.25")
    visitor.page.get_by_role("button", name="Unfold").click()
    visitor.until("polyfold.picture.task.domain.i === 2")
    visitor.waits()
    number = visitor.clicks(-1.0, 0.5)
    # At the point of the input space that was clicked, the network and the map shown agree.
    A, c = maps_shown(visitor)
    x = np.array([0.5, 0.5, -1.0, 0.25])
    np.testing.assert_allclose(A @ x + c, network(x[None])[0], rtol=1e-12)
    assert number >= 0
    visitor.drops(random_network(tmp_path / "graph.onnx", 1, 12, 1))
    visitor.until("polyfold.network.name === 'graph.onnx'")
    visitor.waits()
    ends = np.array(visitor.page.evaluate("polyfold.picture.graph"))
    graph = pf.load(tmp_path / "graph.onnx")
    np.testing.assert_allclose(
        ends[:, :, 1].ravel(), graph(ends[:, :, 0].reshape(-1, 1)).ravel(), rtol=1e-9, atol=1e-12
    )


def test_maps_of_images_are_images(visit: Visit) -> None:
    visitor = visit().opens("#network=mnist_he")
    cell = visitor.clicks(0.7, 0.6)
    A, _ = maps_shown(visitor)
    winner = A[visitor.page.evaluate("polyfold.selection.cell.class")]
    pixels = visitor.page.locator("#panel canvas").evaluate(
        "(canvas) => [...canvas.getContext('2d').getImageData(0, 0, 28, 28).data]"
    )
    red, _, blue, _ = np.array(pixels).reshape(784, 4).T
    # Blue where a brighter pixel raises the output, orange where it lowers it.
    strong = np.abs(winner) > np.abs(winner).max() / 3
    assert strong.sum() > 10 and ((blue > red) == (winner > 0))[strong].all()
    assert visitor.page.inner_text("#panel summary") == "The other 9 outputs" and cell >= 0


def test_dark_and_light(visit: Visit) -> None:
    visitor = visit(color_scheme="dark").opens(IRIS)
    ground = "getComputedStyle(document.body.parentElement).backgroundColor"
    dark = visitor.page.evaluate(ground)
    switch = visitor.page.get_by_role("button", name="Dark")
    assert switch.get_attribute("aria-pressed") == "true"
    switch.click()
    assert switch.get_attribute("aria-pressed") == "false" and visitor.page.evaluate(ground) != dark
    visitor.page.reload()
    visitor.waits()
    assert switch.get_attribute("aria-pressed") == "false"


@pytest.mark.slow
def test_a_hundred_thousand_cells_stay_smooth(visit: Visit) -> None:
    """Frames while moving: what the page itself does in each stays well below the time that a frame has."""
    visitor = visit().opens(IRIS)
    visitor.page.evaluate(
        """async () => {
            const { Cells } = await import("/static/cells.js");
            const side = 317;
            const cells = new Cells();
            for (let j = 0; j < side; j++) {
                const block = { numbers: [], start: [0], points: [], class: [], value: [] };
                for (let i = 0; i < side; i++) {
                    block.numbers.push(j * side + i);
                    block.points.push(i, j, i + 1, j, i + 1, j + 1, i, j + 1);
                    block.start.push(4 * (i + 1));
                    block.class.push((i * i + j) % 3);
                    block.value.push(i);
                }
                cells.append(block);
            }
            const { coloured } = await import("/static/colours.js");
            polyfold.pane.filled = null;
            polyfold.pane.colouring = coloured(cells, "class", "light");
            polyfold.pane.show(cells, [0, 0, side, side]);
        }"""
    )
    visitor.waits()
    assert visitor.page.evaluate("polyfold.pane.cells.size") > 100_000
    for movement in ("panBy(3, 2)", "zoomBy(1.03)", "zoomBy(1 / 1.03)"):
        spent = visitor.page.evaluate(
            f"""async () => {{
                polyfold.pane.frames = [];
                for (let k = 0; k < 60; k++) {{
                    polyfold.pane.camera.{movement};
                    polyfold.pane.move();
                    await new Promise(requestAnimationFrame);
                }}
                return polyfold.pane.frames;
            }}"""
        )
        assert np.median(spent) < 12, (movement, spent)
        visitor.waits()
