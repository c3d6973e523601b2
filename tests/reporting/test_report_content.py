"""What a report says is what the library says, and what it cannot know it does not say."""

from __future__ import annotations

import re
from base64 import b64decode
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

import polyfold as pf
from helpers.report_reading import Reading, rows
from polyfold.datasets import iris_test, read
from polyfold.datasets.convolutional import mnist_conv
from polyfold.datasets.digits import mnist_l1
from polyfold.reporting.figures.class_rules import class_rules
from polyfold.reporting.phrases import number, percent

HAT = [([[1.0], [1.0], [1.0]], [0.0, -1.0, -2.0]), ([[1.0, -2.0, 1.0]], [0.0])]
IRIS = read("iris")
BOX = pf.box(0, 8)


@pytest.fixture(scope="module")
def page():
    petals, species = iris_test()
    return pf.report(
        list(IRIS.layers), petals, species, domain=BOX, feature_names=IRIS.inputs, output_names=IRIS.outputs
    ).html


@pytest.fixture(scope="module")
def atlas():
    return pf.unfold(list(IRIS.layers), BOX)


def test_counts_and_certificate(page, atlas):
    words = Reading(page).words
    assert pf.certify(atlas).level == "certified" and "The certificate says “certified”" in words
    assert f"On the domain there are {len(atlas)} cells: no more, and no fewer." in words
    table = rows(page, "Numbers of cells")
    assert table[1] == ["cells that this network has", str(len(atlas)), "counted"]
    found = pf.size.bounds(atlas)
    assert [f"{found['Serra 2018'].value:,}", "Serra 2018"] in [row[1:] for row in table]
    assert [f"{found['all patterns'].value:,}", "all patterns"] in [row[1:] for row in table]


def test_faces_and_facets(page, atlas):
    assert [int(row[2]) for row in rows(page, "The f-vector")[1:]] == list(atlas.f_vector())
    facets = pf.stats.facets(atlas)
    assert [[name, str(count)] for name, count in zip(facets.layers, facets.layer_facets, strict=True)] == rows(
        page, "Which layer"
    )[1:]
    words = Reading(page).words
    assert f"{atlas.inner_facets} between cells, and {atlas.boundary_facets} where the domain ends" in words
    assert f"has diameter {pf.graph.diameter(atlas).diameter}:" in words


def test_extrema_means_and_steepness(page, atlas):
    for row in rows(page, "The smallest and largest value")[1:]:
        output = IRIS.outputs.index(row[0])
        found = (pf.stats.minimum if row[1] == "smallest" else pf.stats.maximum)(atlas, output=output)
        assert row[2] == number(found.value) and f"(cell {found.cell})" in row[3] and row[4] == "proved"
    means = pf.stats.mean(atlas).value
    deviations = np.sqrt(pf.stats.variance(atlas).value)
    assert rows(page, "Mean and standard deviation")[1:] == [
        [name, number(float(m)), number(float(s))] for name, m, s in zip(IRIS.outputs, means, deviations, strict=True)
    ]
    assert f"The Lipschitz constant on the domain is {number(pf.stats.lipschitz(atlas).value)}" in Reading(page).words


def test_classes_areas_and_boundary(page, atlas):
    areas = pf.stats.class_areas(atlas)
    assert [row[1] for row in rows(page, "Part of the domain")[1:]] == [percent(float(part)) for part in areas.shares]
    boundary = pf.stats.decision_boundary(atlas)
    table = rows(page, "Where two classes meet")[1:]
    assert sum(int(row[1]) for row in table) == len(boundary)
    between = [tuple(row[0].split(" and ")) for row in table]
    pairs = np.unique(boundary.pair, axis=0).tolist()
    assert between == [(IRIS.outputs[one], IRIS.outputs[other]) for one, other in pairs]


def test_data_and_regions(page, atlas):
    petals, species = iris_test()
    summary = pf.summarise(pf.regions(atlas), petals, species, feature_names=IRIS.inputs, output_names=IRIS.outputs)
    words = Reading(page).words
    for region, count, right in zip(summary.ids, summary.counts, summary.correct, strict=True):
        assert f"Region {region} holds {count} data points" in words
        assert f"There {right} of {count} are answered right." in words
        assert rows(page, f"The map in region {region}.")
    answers = pf.load(list(IRIS.layers))(petals).argmax(axis=1)
    labels = np.array([IRIS.outputs.index(name) for name in species])
    table = [[int(number) for number in row[1:]] for row in rows(page, "How often which true class")[1:]]
    assert table == [[int(((labels == i) & (answers == j)).sum()) for j in range(3)] for i in range(3)]


def test_distances_to_another_answer(page, atlas):
    petals, _ = iris_test()
    found = pf.stats.nearest_change(atlas, petals)
    assert rows(page, "The data points nearest to another answer")[1][2] == number(float(found.distance.min()))


def test_a_strip_below_a_graph_is_explained(page):
    assert "versicolor wins" in page and "The strip at the bottom says which output is the largest." in page


def test_what_can_be_left_out(page):
    found = pf.reduce(list(IRIS.layers), BOX)
    saved = found.neurons_before - found.neurons_after
    assert f"Of {found.neurons_before} neurons, {saved} can be left out" in Reading(page).words
    assert [row[0] for row in rows(page, "Each with its reason")[1:]] == [step.neuron for step in found.steps]


def test_shares_of_features_add_up(page):
    captions = re.findall(r"<caption><span>([^<]*what adds up to the output[^<]*)</span>", page)
    assert captions
    for caption in captions:
        values = [float(row[-1].replace("−", "-")) for row in rows(page, caption)[1:]]
        assert sum(values[:-1]) == pytest.approx(values[-1], abs=2e-3)


def test_rules_hold_on_a_grid(page, atlas):
    """Everywhere in a rule's box the network gives the rule's answer, as a fine grid says."""
    petals, _ = iris_test()
    rules = class_rules(pf.stats.classes(atlas), np.zeros(2), np.full(2, 8.0), petals)
    network = pf.load(list(IRIS.layers))
    assert [rule.label for rule in rules] == [0, 1, 2] and all(rule.proved for rule in rules)
    for rule in rules:
        sides = [np.linspace(lo, hi, 60) for lo, hi in zip(rule.lo, rule.hi, strict=True)]
        grid = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
        scores = network(grid)
        assert (scores[:, rule.label] >= scores.max(axis=1) - 1e-9).all()
        assert rule.points == ((petals >= rule.lo) & (petals <= rule.hi)).all(axis=1).sum() > 0
    said = [row[0] for row in rows(page, "One rule for each class")[1:]]
    assert [text.rsplit(" ", 1)[1] for text in said] == [f"{name}." for name in IRIS.outputs]


# -- other kinds of networks


def test_a_quantity_of_one_input():
    found = pf.report(HAT, [[0.5], [1.5]], [0.4, 0.6], domain=pf.box(-1, 3), feature_names=["time"])
    reading = Reading(found.html)
    assert "off by 0.1 on average and by 0.1 at most" in reading.words
    assert "class" not in reading.explained and "the answer" not in reading.words
    assert rows(found.html, "The smallest and largest value")[2][:4] == ["linear2", "largest", "1", "time = 1 (cell 2)"]
    assert found.found.left_out == ()


def test_without_a_domain_it_looks_around_the_data():
    found = pf.report(HAT, X=[[0.0], [10.0]])
    assert "all inputs with x0 between −1 and 11. It is the box around the data" in Reading(found.html).words
    everywhere = pf.report(HAT)
    assert "all inputs there are" in Reading(everywhere.html).words
    assert "the domain has no end" in everywhere.found.left_out[0].why


def test_classes_that_tie_everywhere():
    found = pf.report(
        [([[0.0, 0.0]], [-1.0]), ([[0.0], [0.0]], [3.0, 3.0])], domain=pf.box(0, 1), output_names=["a", "b"]
    )
    words = Reading(found.html).words
    assert "There is no decision boundary" in words and "Nowhere on the domain is the answer b" in words
    assert "the very same score" in words


def test_a_cell_limit_is_said():
    rng = np.random.default_rng(0)
    layers = [(rng.normal(size=(30, 3)), rng.normal(size=30)), (rng.normal(size=(2, 30)), rng.normal(size=2))]
    found = pf.report(layers, domain=pf.box(-1, 1), max_cells=20)
    assert found.found.whole is None and found.found.count is not None
    words = Reading(found.html).words
    assert f"exactly {pf.count(layers, pf.box(-1, 1)).cells:,} cells" in words
    assert "What was not computed" in words


def test_no_time_at_all_still_gives_a_page():
    found = pf.report(list(IRIS.layers), domain=BOX, max_seconds=1e-9)
    assert found.found.whole is None
    assert all("time limit" in item.why or "no data" in item.why for item in found.found.left_out)
    for item in found.found.left_out:
        assert item.what in Reading(found.html).words


def test_784_inputs_within_a_limit():
    """It says that cells were not listed, and does what can be done: maps, a way, a slice, a smaller network."""
    rng = np.random.default_rng(0)
    pictures = rng.random((6, 784))
    found = pf.report(mnist_l1(), pictures, domain=pf.box(0, 1), max_seconds=2)
    words = Reading(found.html).words
    left = {item.what: item.why for item in found.found.left_out}
    assert "it was not tried" in left["the list of all cells"] and left["the list of all cells"] in words
    maps = pf.local(mnist_l1(), pictures)
    assert found.found.around is not None and found.found.around.maps is not None
    assert np.array_equal(found.found.around.maps.A, maps.A[found.found.around.rows])
    way = pf.unfold(mnist_l1(), pf.line(pictures[0], pictures[found.found.line.rows[1]]))
    assert f"The way leads through {len(way)} cells" in words
    assert "the plane through three data points" in words and "<svg" in found.html
    assert "89,610 weights" in left["the search for neurons that the network can do without"]
    assert len(found.html) < 1_000_000


@pytest.mark.slow
def test_784_inputs_with_enough_time():
    found = pf.report(mnist_l1(), domain=pf.box(0, 1), max_seconds=60)
    assert found.found.drawn and [item.what for item in found.found.left_out] == ["the list of all cells"]
    smaller = pf.reduce(mnist_l1(), pf.box(0, 1))
    saved = smaller.neurons_before - smaller.neurons_after
    assert f"Of 200 neurons, {saved} can be left out" in Reading(found.html).words


@pytest.mark.slow
def test_a_convolutional_network():
    found = pf.report(
        mnist_conv(), np.random.default_rng(0).random((3, 784)) / 100, domain=pf.box(0, 1), max_seconds=60
    )
    words = Reading(found.html).words
    assert "the list of all cells" in words and "The way leads through" in words
    assert found.found.around is not None and found.found.around.maps is not None


def test_maps_of_pictures_are_pictures():
    """The pixels in the page are red where the map's slope is positive, and blue where it is negative."""
    rng = np.random.default_rng(0)
    layers = [(rng.normal(size=(30, 36)), rng.normal(size=30)), (rng.normal(size=(3, 30)), rng.normal(size=3))]
    X = rng.random((2, 36))
    found = pf.report(layers, X=X, image_shape=(4, 9), max_seconds=3)
    images = re.findall(r'href="data:image/png;base64,([^"]*)"', found.html)
    assert len(images) == 4 and Reading(found.html).loads() == []
    maps, scores = pf.local(layers, X), pf.load(layers)(X)
    for k in range(2):
        pixels = np.array(Image.open(BytesIO(b64decode(images[2 + k]))), dtype=np.int64)
        slopes = maps.A[k, scores[k].argmax()].reshape(4, 9)
        assert pixels.shape == (4, 9, 3)
        strong = np.abs(slopes) > 0.3 * np.abs(slopes).max()
        assert np.array_equal((pixels[..., 0] > pixels[..., 2])[strong], (slopes > 0)[strong]) and strong.sum() > 5
    with pytest.raises(pf.PolyfoldError, match=r"image_shape=\(5, 5\) must be"):
        pf.report(layers, image_shape=(5, 5))


# -- names that mean harm


def test_names_are_texts_and_nothing_else():
    bad = "<script>alert(1)</script>\"'&"
    petals, species = iris_test()
    other = [f"<img src=x onerror=alert({k})>" for k in range(3)]
    labels = [other[IRIS.outputs.index(name)] for name in species]
    found = pf.report(
        list(IRIS.layers), petals, labels, domain=BOX, name=bad, feature_names=[bad, "</title>"], output_names=other
    )
    reading = Reading(found.html)
    assert reading.loads() == []
    assert not {tag for tag, _ in reading.tags} & {"script", "img"}
    assert bad in reading.text and other[0] in reading.text
    assert not any(name.startswith("on") for _, attributes in reading.tags for name in attributes)
