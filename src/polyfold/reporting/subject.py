"""Subject: what a report is about. The network, the domain, the data and their names, checked once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from polyfold._base.inputs import features_of, labels_of, number_in, rows_of, whole_number_in
from polyfold._base.options import whole_number
from polyfold._base.types import Array, Ids
from polyfold.atlas.atlas import Atlas
from polyfold.domain.domain import Box, Domain, DomainLike, resolve_domain
from polyfold.domain.points import contains
from polyfold.engine.source import SourceLike, as_network, own_domain
from polyfold.errors import DataError, DomainError, ShapeError, how_many
from polyfold.network.graph import Network
from polyfold.network.ops.op import size
from polyfold.program.lower.lower import lower
from polyfold.program.program import Program
from polyfold.reporting.figures.data import box_around, columns

_BINARY = 2
# How many axes a picture has: rows and columns, and maybe channels.
_PICTURES = (2, 3)


@dataclass(frozen=True, eq=False)
class Subject:
    """What a report is about.

    `sides` are (lo, hi) if the domain is a box, and `why` says where the domain comes from. `classes` is None if the
    outputs are no scores of classes; with one output the classes are [not more than 0, more than 0]. Of the rows of
    `X`, `labels` are the true classes, or `targets` the true outputs; both are None if nobody said. `image_shape` is
    there if inputs are pictures: (rows, columns), or channels in front of these.
    """

    name: str
    origin: tuple[str, ...]
    network: Network
    program: Program
    domain: Domain
    sides: tuple[Array, Array] | None
    why: str
    features: tuple[str, ...]
    outputs: tuple[str, ...]
    classes: tuple[str, ...] | None
    X: Array | None
    data_origin: str
    labels: Ids | None
    targets: Array | None
    image_shape: tuple[int, ...] | None

    @property
    def bounded(self) -> bool:
        """Whether the domain is a box without infinite sides."""
        return self.sides is not None and bool(np.isfinite(np.concatenate(self.sides)).all())

    @property
    def by_sign(self) -> bool:
        """Whether the sign of the only output decides between two classes, and not the largest of several scores."""
        return self.classes is not None and len(self.outputs) == 1

    def inside(self, points: Array) -> Ids:
        """The numbers of the points that lie in the domain: that is decided exactly."""
        if self.sides is None:
            return np.flatnonzero(contains(self.domain, points))
        # Comparing with sides takes no product of the points with the many rows of a box.
        lo, hi = self.sides
        return np.flatnonzero(((points >= lo) & (points <= hi)).all(axis=1))


def subject(
    source: SourceLike,
    X: Any = None,
    y: Any = None,
    domain: DomainLike = None,
    *,
    name: str | None = None,
    origin: Sequence[str] = (),
    data_origin: str = "",
    feature_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    image_shape: Sequence[int] | None = None,
) -> Subject:
    """Everything that was given, looked over; without a domain that is a box around the data, or all inputs."""
    loaded = as_network(source)
    if isinstance(source, Atlas):
        domain = own_domain(source, domain)
    if X is None and y is not None:
        raise ShapeError("y has what X should give: give X as well")
    features = features_of(feature_names, X, loaded.input_dim)
    rows = None if X is None else _rows(loaded, X, features)
    outputs, classes = _outputs(loaded, output_names)
    numbers, targets = _truth(y, rows, classes)
    where, sides, why = _domain(loaded, domain, rows)
    return Subject(
        name or f"a network from {loaded.source}",
        tuple(origin),
        loaded,
        lower(loaded),
        where,
        sides,
        why,
        features,
        outputs,
        classes,
        rows,
        data_origin,
        numbers,
        targets,
        _image_shape(loaded, image_shape),
    )


def _image_shape(network: Network, given: Sequence[int] | None) -> tuple[int, ...] | None:
    """What was given, or the shape of the only input if that has rows and columns."""
    if given is None:
        own = network.inputs[0].shape if len(network.inputs) == 1 else ()
        return own if len(own) in _PICTURES and min(own[-2:]) > 1 else None
    shape = tuple(whole_number("image_shape", side, network.input_dim) for side in given)
    if len(shape) not in _PICTURES or size(shape) != network.input_dim:
        raise ShapeError(
            f"image_shape={tuple(given)!r} must be (rows, columns) or (channels, rows, columns) of the "
            f"{how_many(network.input_dim, 'input')}"
        )
    return shape


def _rows(network: Network, X: Any, features: tuple[str, ...]) -> Array:
    one = network.inputs[0].shape if len(network.inputs) == 1 else None
    rows = rows_of(X, network.input_dim, names=features, shape=one)
    if not len(rows):
        raise ShapeError("X has no rows: give at least one input, or leave it out")
    return rows


def _outputs(network: Network, output_names: Sequence[str] | None) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    """Names of the outputs, and of the classes if there are classes."""
    count = network.output_dim
    sizes = [(name, size(network.shapes[name])) for name in network.outputs]
    plain = tuple(name if n == 1 else f"{name}[{k}]" for name, n in sizes for k in range(n))
    if output_names is None:
        return (plain, None) if count == 1 else (plain, plain)
    wanted = max(_BINARY, count)
    if isinstance(output_names, str) or len(output_names) != wanted:
        given = output_names if isinstance(output_names, str) else ", ".join(map(str, output_names))
        raise ShapeError(
            f"the network has {how_many(count, 'output')} and so {how_many(wanted, 'class')[:-1]}es, but the "
            f"output_names are: {given}"
        )
    names = tuple(str(name) for name in output_names)
    if len(set(names)) < len(names) or not all(name.strip() for name in names):
        raise ShapeError(f"output_names must differ, and none may be empty: {', '.join(map(repr, names))}")
    return (plain if count == 1 else names), names


def _truth(labels: Any, X: Array | None, classes: tuple[str, ...] | None) -> tuple[Ids | None, Array | None]:
    """(numbers of the true classes, true outputs): one of both, if labels are given."""
    if labels is None or X is None:
        return None, None
    given = [str(label).strip() for label in labels_of(labels, len(X)).tolist()]
    if classes is None:
        values = [_number(label) for label in given]
        for label, value in zip(given, values, strict=True):
            if value is None:
                raise DataError(
                    f"label {label!r} is not a number, and the network has one output: give the names of two classes "
                    "(output_names, --output-names), first that of outputs up to 0, if the labels are classes"
                )
        return None, np.array(values, dtype=np.float64)
    if set(given) <= set(classes):
        return np.array([classes.index(label) for label in given], dtype=np.int64), None
    # 1, 1.0 and "1" are one class; a class may be named 1.0, too.
    numbers = [whole_number_in(label) for label in given]
    named: list[int | None] = [whole_number_in(name) for name in classes]
    for known in (named, [*range(len(classes))]):
        if None not in numbers and set(numbers) <= set(known) and len(set(known)) == len(known):
            return np.array([known.index(number) for number in numbers], dtype=np.int64), None
    bad = next(label for label in given if label not in classes)
    raise DataError(
        f"label {bad!r} is none of the classes {', '.join(classes)}, nor are all labels numbers from 0 to "
        f"{len(classes) - 1}: give the names of the classes in the outputs' order (output_names, --output-names)"
    )


def _number(text: str) -> float | None:
    value = number_in(text)
    return value if value is not None and isfinite(value) else None


def _wider(X: Array) -> str:
    """By how much the box around data reaches beyond them, in words."""
    extent = columns(X).extent
    usual = "a tenth of their range wider on each side"
    if extent.all():
        return usual
    if not extent.any():
        return "which are all the same, 1 wider on each side"
    return f"{usual}, or, for features that have one value only, a tenth of the widest feature's range"


def _domain(network: Network, domain: DomainLike, X: Array | None) -> tuple[Domain, tuple[Array, Array] | None, str]:
    dim = network.input_dim
    if domain is None and X is not None:
        domain = Box(*box_around(X))
        why = f"It is the box around the data, {_wider(X)}, because no other was asked for."
    elif domain is None:
        why = "Neither a box nor data were given, so it is all inputs there are, without end."
    else:
        why = "It was asked for."
    where = resolve_domain(domain, dim)
    if where.is_slice:
        raise DomainError(f"a report is about all inputs or a box or polytope of them, not about {where.describe()}")
    sides = None
    if isinstance(domain, Box):
        lo, hi = (np.broadcast_to(np.asarray(side, dtype=np.float64), (dim,)) for side in (domain.lo, domain.hi))
        sides = lo, hi
    return where, sides, why
