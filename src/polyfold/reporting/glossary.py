"""The words of the report, each explained in one plain sentence, and which of them a text uses."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Term:
    """A word, the sentence that explains it, and the forms in which texts use it, as a regular expression."""

    word: str
    sentence: str
    forms: str

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(rf"(?<![\w-])(?:{self.forms})(?![\w-])", re.IGNORECASE)

    def used_in(self, text: str) -> bool:
        return self.pattern.search(text) is not None


TERMS = (
    Term(
        "weight",
        "a number that training has chosen, and by which the network multiplies other numbers.",
        "weights?",
    ),
    Term(
        "neuron",
        "the smallest unit of a network: it multiplies the numbers that it reads by its weights, adds them up together "
        "with one more weight, and passes the sum on.",
        "neurons?",
    ),
    Term(
        "layer",
        "a group of neurons side by side, all of which read what came out before them.",
        "layers?",
    ),
    Term(
        "ReLU",
        "a neuron's last step in most networks: a positive sum goes on as it is, and anything else becomes 0.",
        "relus?",
    ),
    Term(
        "gate",
        "one on/off switch in the network, usually the ReLU of one neuron: it is on where its sum is positive.",
        "gates?",
    ),
    Term(
        "domain",
        "the set of inputs that this report looks at; statements about the network hold on it and nowhere else.",
        "domains?",
    ),
    Term(
        "pattern",
        "which gates are on and which are off for an input.",
        "patterns?",
    ),
    Term(
        "cell",
        "all inputs with one and the same pattern, as far as they fill some space; a cell has straight sides and no "
        "dents.",
        "cells?",
    ),
    Term(
        "affine map",
        "a formula of the simplest kind: each input times a fixed number, added up, plus a constant; on every cell the "
        "network is one such formula.",
        "affine maps?",
    ),
    Term(
        "region",
        "neighbouring cells on which the network has the very same affine map, taken together.",
        "regions?",
    ),
    Term(
        "certificate",
        "the record of what has been proved about a list of cells, and how.",
        "certificates?|certified",
    ),
    Term(
        "witness",
        "a point that has been proved to lie inside a cell, so that the cell exists.",
        "witness|witnesses",
    ),
    Term(
        "facet",
        "a flat side of a cell: behind it lies one neighbouring cell, or the domain ends.",
        "facets?",
    ),
    Term(
        "wall",
        "what a facet lies on: the inputs at which one gate switches, or the edge of the domain.",
        "walls?",
    ),
    Term(
        "breakpoint",
        "an input at which a gate switches; the formula may change there.",
        "breakpoints?",
    ),
    Term(
        "face",
        "a cell, a side of a cell, a side of such a side, and so on down to edges and corners.",
        "faces?",
    ),
    Term(
        "f-vector",
        "how many faces there are of each dimension, corners first and cells last.",
        "f-vectors?",
    ),
    Term(
        "Euler characteristic",
        "faces counted with alternating signs (corners minus edges plus areas and so on): what it must be does not "
        "depend on how the domain is cut, so that a wrong count would show; for a box it is 1.",
        "euler characteristic",
    ),
    Term(
        "dual graph",
        "a map of neighbours: a dot for every cell, and a link between two dots where their cells share a facet.",
        "dual graphs?",
    ),
    Term(
        "diameter",
        "how many links lie between the two dots of a dual graph that are farthest apart.",
        "diameters?",
    ),
    Term(
        "upper bound",
        "a number that a count cannot exceed, whatever the weights are.",
        "upper bounds?",
    ),
    Term(
        "slice",
        "a flat cut through the space of inputs, on which only one or two things vary.",
        "slices?",
    ),
    Term(
        "class",
        "one of the answers between which the network decides.",
        "class|classes",
    ),
    Term(
        "score",
        "the network's output for one class: the class with the largest score is the answer.",
        "scores?",
    ),
    Term(
        "decision boundary",
        "where the network's answer changes from one class to another.",
        "decision boundar(?:y|ies)",
    ),
    Term(
        "median",
        "the value in the middle: half of the values are smaller, and half are larger.",
        "medians?",
    ),
    Term(
        "mean",
        "the average; over a domain every input counts the same, and none is left out.",
        "means?",
    ),
    Term(
        "standard deviation",
        "how far values usually are from their mean.",
        "standard deviations?",
    ),
    Term(
        "Lipschitz constant",
        "the steepest that the network gets: when an input moves by some distance, the outputs move by at most this "
        "many times as much.",
        "lipschitz constants?",
    ),
    Term(
        "slope",
        "by how much an output changes when one input grows by 1 within a cell.",
        "slopes?",
    ),
    Term(
        "Shapley value",
        "the share of one feature in what the network says about an input: all features' shares add up to the "
        "difference from a typical input.",
        "shapley values?",
    ),
    Term(
        "feature",
        "one of the numbers that the network reads.",
        "features?",
    ),
)
_BY_WORD = {term.word: term for term in TERMS}


def named(word: str) -> Term:
    """A term by its word."""
    return _BY_WORD[word]


def to_explain(texts: Iterable[str], known: Iterable[str] = ()) -> tuple[Term, ...]:
    """The terms that texts use, in an order in which each explanation only uses words that are explained before it.

    >>> [term.word for term in to_explain(["Two cells meet."])]
    ['weight', 'neuron', 'ReLU', 'gate', 'pattern', 'cell']
    >>> [term.word for term in to_explain(["Two cells meet."], known=["gate", "pattern"])]
    ['cell']
    """
    seen = set(known)
    found: list[Term] = []

    def explain(term: Term) -> None:
        if term.word in seen:
            return
        seen.add(term.word)
        for other in TERMS:
            if other is not term and other.used_in(term.sentence):
                explain(other)
        found.append(term)

    whole = "\n".join(texts)
    for term in TERMS:
        if term.used_in(whole):
            explain(term)
    return tuple(found)
