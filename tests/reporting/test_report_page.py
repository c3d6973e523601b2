"""The page of a report: one file that loads nothing, with every word explained before it is used."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest

import polyfold as pf
from helpers.report_reading import Reading
from polyfold.datasets import iris_test, read
from polyfold.reporting.glossary import TERMS, to_explain

# Words of the trade, and how they look in texts. This list is the test's own: a word may not be dropped from the
# page's glossary without somebody noticing here.
WORDS = {
    "weight": r"weights?",
    "neuron": r"neurons?",
    "layer": r"layers?",
    "relu": r"relus?",
    "gate": r"gates?",
    "domain": r"domains?",
    "pattern": r"patterns?",
    "cell": r"cells?",
    "affine map": r"affine maps?",
    "region": r"regions?",
    "certificate": r"certificates?|certified",
    "witness": r"witness(?:es)?",
    "facet": r"facets?",
    "wall": r"walls?",
    "breakpoint": r"breakpoints?",
    "face": r"faces?",
    "f-vector": r"f-vector",
    "euler characteristic": r"euler characteristic",
    "dual graph": r"dual graph",
    "diameter": r"diameters?",
    "upper bound": r"upper bounds?",
    "slice": r"slices?",
    "class": r"class(?:es)?",
    "score": r"scores?",
    "decision boundary": r"decision boundary",
    "median": r"medians?",
    "mean": r"means?",
    "standard deviation": r"standard deviations?",
    "lipschitz constant": r"lipschitz constant",
    "slope": r"slopes?",
    "shapley value": r"shapley values?",
    "feature": r"features?",
}


def random_layers(*widths, seed=0):
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=(b, a)), rng.normal(size=b)) for a, b in pairwise(widths)]


HAT = [([[1.0], [1.0], [1.0]], [0.0, -1.0, -2.0]), ([[1.0, -2.0, 1.0]], [0.0])]
POINTS = np.random.default_rng(1).uniform(-1, 1, size=(12, 4))


def reports():
    network, (petals, species) = read("iris"), iris_test()
    yield (
        "iris",
        lambda: pf.report(
            list(network.layers),
            petals,
            species,
            domain=pf.box(0, 8),
            name="iris",
            feature_names=network.inputs,
            output_names=network.outputs,
        ),
    )
    yield "one input", lambda: pf.report(HAT, [[0.5], [1.5]], [0.4, 0.6], domain=pf.box(-1, 3), feature_names=["time"])
    yield "one input without end", lambda: pf.report(HAT)
    yield "no gates", lambda: pf.report([([[1.0, 2.0]], [0.5])], domain=pf.box(0, 1))
    yield "constant", lambda: pf.report([([[0.0, 0.0]], [-1.0]), ([[0.0], [0.0]], [3.0, 3.0])], domain=pf.box(0, 1))
    yield "all of the plane", lambda: pf.report(random_layers(2, 5, 3))
    yield (
        "triangle",
        lambda: pf.report(random_layers(2, 5, 2), domain=pf.polytope([[1, 1], [-1, 0], [0, -1]], [1, 0, 0])),
    )
    yield (
        "two classes by one output",
        lambda: pf.report(random_layers(2, 5, 1), X=POINTS[:, :2], output_names=["no", "yes"]),
    )
    yield "four inputs", lambda: pf.report(random_layers(4, 6, 3), X=POINTS, y=np.arange(12) % 3)
    yield "a quantity of four inputs", lambda: pf.report(random_layers(4, 6, 1), X=POINTS)
    yield "many inputs", lambda: pf.report(random_layers(40, 20, 20, 3), domain=pf.box(0, 1), max_seconds=3)
    yield "too many cells", lambda: pf.report(random_layers(3, 30, 3), X=POINTS[:, :3], max_cells=20)


REPORTS = dict(reports())


@pytest.fixture(scope="module", params=list(REPORTS))
def reading(request):
    return Reading(REPORTS[request.param]().html)


def test_it_is_one_file_that_loads_nothing(reading):
    assert reading.loads() == []
    assert not {tag for tag, _ in reading.tags} & {"script", "link", "img", "iframe", "object", "embed", "base"}
    anchors = {attributes["href"][1:] for tag, attributes in reading.tags if tag == "a"}
    ids = [attributes["id"] for _, attributes in reading.tags if attributes.get("id")]
    assert anchors <= set(ids) and len(ids) == len(set(ids))


def test_every_word_is_explained_before_it_is_used(reading):
    for word, forms in WORDS.items():
        # The gates' names have layers' names in them: relu1[0] is no use of the word.
        used = re.search(rf"(?<![\w-])(?:{forms})(?![\w-])", reading.text, flags=re.IGNORECASE)
        if used is not None:
            assert word in reading.explained, f"{word!r} is used and never explained"
            assert reading.explained[word] <= used.start(), reading.text[max(0, used.start() - 80) : used.end() + 40]


def test_pictures_say_what_they_show(reading):
    pictures = [attributes for tag, attributes in reading.tags if tag == "svg"]
    ids = {attributes.get("id") for _, attributes in reading.tags}
    for picture in pictures:
        assert picture["role"] == "img"
        assert set(str(picture["aria-labelledby"]).split()) <= ids


def test_the_same_input_gives_the_same_bytes():
    assert REPORTS["iris"]().html == REPORTS["iris"]().html


def test_the_bundled_report_is_small():
    assert len(REPORTS["iris"]().html.encode()) < 300_000


# -- the glossary


def test_the_glossary_is_the_tests_own_list():
    assert {term.word.lower() for term in TERMS} == set(WORDS)


def test_explanations_are_one_plain_sentence():
    for term in TERMS:
        assert term.sentence.endswith(".") and not re.search(r"[.!?] ", term.sentence), term
        assert 5 <= len(term.sentence.split()) <= 45, term


def test_explanations_use_no_word_that_waits_for_them():
    """Explaining any word explains what it needs first: there are no circles."""
    for term in TERMS:
        order = [one.word for one in to_explain([term.word])]
        assert order[-1] == term.word
        for place, word in enumerate(order):
            sentence = next(one.sentence for one in TERMS if one.word == word)
            for other in TERMS:
                if other.word != word and other.used_in(sentence):
                    assert other.word in order[:place], f"{word} is explained by {other.word}, which comes later"
