"""For each class a box of inputs on which it wins everywhere: a rule that people can read, proved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from polyfold.analyses.boxes.build import boxes
from polyfold.analyses.statistics.classes import Classes

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ClassRule:
    """Wherever lo <= u <= hi, class `label` wins: the box lies in part `part` of the classes.

    `points` is how many of the data given lie in the box, `of_class` how many the network puts in the class at all.
    """

    label: int
    part: int
    lo: Array
    hi: Array
    points: int
    of_class: int


def class_rules(classes: Classes, X: Array | None = None) -> tuple[ClassRule, ...]:
    """One rule for each class that wins anywhere, from the part that holds most of its data, or else the largest one.

    Of that part it is the largest box inside. A class whose best part has no box of floats has no rule.

    >>> import polyfold as pf
    >>> two = [([[1.0], [1.0]], [0.0, -1.0]), ([[1.0, -2.0], [0.0, 1.0]], [0.0, 0.0])]
    >>> rules = class_rules(pf.classes(pf.unfold(two, pf.box(0, 4))))
    >>> [(rule.label, rule.lo.round(6).tolist(), rule.hi.round(6).tolist()) for rule in rules]
    [(0, [0.0], [1.0]), (1, [1.5], [4.0])]
    """
    held = np.zeros(len(classes.label), dtype=np.int64)
    inside = np.zeros((0, classes.atlas.dim))
    if X is not None:
        part = classes.atlas.locate(X, outside="ignore")
        inside = X[part >= 0]
        np.add.at(held, part[part >= 0], 1)
    volumes = classes.atlas.volumes()
    best = [
        max(np.flatnonzero(classes.label == label).tolist(), key=lambda k: (held[k], volumes[k], -k))
        for label in np.unique(classes.label).tolist()
    ]
    found = boxes(classes.atlas, best)
    rules = []
    for row, part in enumerate(best):
        lo, hi = found.inner_lo[row], found.inner_hi[row]
        if np.isnan(lo).any():
            continue
        label = int(classes.label[part])
        points = int(((inside >= lo) & (inside <= hi)).all(axis=1).sum())
        of_class = int(held[classes.label == label].sum())
        rules.append(ClassRule(label, part, lo, hi, points, of_class))
    return tuple(rules)
