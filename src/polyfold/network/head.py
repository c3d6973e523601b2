"""Head: what a model does behind its last piecewise-linear op (softmax, sigmoid, argmax), kept beside the network.

A network's own outputs are the scores; the head makes the model's outputs of them. Every op of a head reads its numbers
in groups: (before, length, after) stands for numbers in that shape, row by row, with a group along the middle axis.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from polyfold._base.types import Array, ArrayLike
from polyfold.errors import NetworkError, ShapeError, how_many
from polyfold.network.ops.op import Shape, size

Kind = Literal["softmax", "log-softmax", "sigmoid", "log-sigmoid", "argmax", "hardmax"]
# Ops that treat every number by itself, and ops whose result jumps.
ELEMENTWISE = frozenset({"sigmoid", "log-sigmoid"})
JUMPING = frozenset({"argmax", "hardmax"})


@dataclass(frozen=True)
class HeadOp:
    """One op of a head.

    Attributes
    ----------
    kind : str
        What it does to each of its groups: "softmax", "log-softmax", "sigmoid", "log-sigmoid", "argmax" or "hardmax".
    groups : tuple of three int
        (before, length, after); of ops that treat every number by itself, (numbers, 1, 1).
    last : bool
        Whether the last one of several largest numbers counts, not the first (argmax and hardmax).
    name : str
        What the user's model calls it; not compared.
    """

    kind: Kind
    groups: tuple[int, int, int]
    last: bool = False
    name: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise NetworkError(f"a head has {', '.join(get_args(Kind))}, not {self.kind!r}")
        if len(self.groups) != 3 or min(self.groups) < 1:
            raise NetworkError(f"the groups of {self.kind} must be three positive numbers, got {self.groups}")
        if self.groups[1] == 1:
            object.__setattr__(self, "groups", (self.reads, 1, 1))

    @classmethod
    def along(cls, kind: Kind, shape: Shape, axes: Sequence[int], *, last: bool = False, name: str = "") -> HeadOp:
        """The op along neighbouring axes of numbers of this shape; along no axis, every number is a group."""
        if kind in ELEMENTWISE or not axes:
            return cls(kind, (size(shape), 1, 1), last, name)
        first, stop = min(axes), max(axes) + 1
        return cls(kind, (prod(shape[:first]), prod(shape[first:stop]), prod(shape[stop:])), last, name)

    @property
    def reads(self) -> int:
        """How many numbers go in."""
        return prod(self.groups)

    @property
    def gives(self) -> int:
        """How many numbers come out."""
        return self.groups[0] * self.groups[2] if self.kind == "argmax" else self.reads

    @cached_property
    def members(self) -> npt.NDArray[np.int64]:
        """The numbers (groups, length) of each group's entries."""
        return np.moveaxis(np.arange(self.reads).reshape(self.groups), 1, 2).reshape(-1, self.groups[1])

    def axis_of(self, shape: Shape) -> int | None:
        """The axis of numbers of this shape that the groups lie along, 0 if any will do; None if it is none of them."""
        if self.kind in ELEMENTWISE:
            return 0
        before = 1
        for axis, length in enumerate(shape):
            if (before, length) == self.groups[:2]:
                return axis
            before *= length
        return None

    def __call__(self, values: Array) -> Array:
        """The op in floats, on rows (n, reads)."""
        z = values.reshape(len(values), *self.groups)
        found: Array = _EVALUATED[self.kind](z, self.last).reshape(len(values), -1)
        return found

    def __str__(self) -> str:
        before, length, after = self.groups
        if self.kind in ELEMENTWISE:
            return f"{self.kind} of {how_many(self.reads, 'score')}"
        ties = ", the last one where several are largest" if self.last else ""
        over = f"{self.kind} over {how_many(length, 'score')}{ties}"
        return over if before * after == 1 else f"{over}, in each of {before * after:,} groups"


def _largest(z: Array, last: bool) -> npt.NDArray[np.int64]:
    return np.asarray(z.shape[2] - 1 - z[:, :, ::-1].argmax(axis=2) if last else z.argmax(axis=2))


def _softmax(z: Array, last: bool) -> Array:
    powers = np.exp(z - z.max(axis=2, keepdims=True))
    return np.asarray(powers / powers.sum(axis=2, keepdims=True))


def _log_softmax(z: Array, last: bool) -> Array:
    below = z - z.max(axis=2, keepdims=True)
    return np.asarray(below - np.log(np.exp(below).sum(axis=2, keepdims=True)))


def _hardmax(z: Array, last: bool) -> Array:
    places = np.arange(z.shape[2])[:, None]
    return np.asarray(places == _largest(z, last)[:, :, None], dtype=np.float64)


_EVALUATED = {
    "softmax": _softmax,
    "log-softmax": _log_softmax,
    "sigmoid": lambda z, last: 0.5 * (1.0 + np.tanh(0.5 * z)),
    "log-sigmoid": lambda z, last: -np.logaddexp(0.0, -z),
    "argmax": lambda z, last: _largest(z, last).astype(np.float64),
    "hardmax": _hardmax,
}


@dataclass(frozen=True)
class OutputHead:
    """What becomes of one output's scores: some ops, one behind the other, or none.

    Attributes
    ----------
    scores : int
        How many scores go in.
    ops : tuple of HeadOp
        The ops, in order.
    shape : tuple of int
        The shape of the model's own output without the batch axis; it is not compared.
    """

    scores: int
    ops: tuple[HeadOp, ...]
    shape: Shape = field(compare=False)

    def __post_init__(self) -> None:
        numbers = self.scores
        for op in self.ops:
            if op.reads != numbers:
                raise NetworkError(f"{op} reads {how_many(op.reads, 'number')}, but there are {numbers:,}")
            numbers = op.gives
        if size(self.shape) != numbers:
            raise NetworkError(f"an output of shape {self.shape} does not hold {how_many(numbers, 'number')}")

    @property
    def outputs(self) -> int:
        """How many numbers come out."""
        return size(self.shape)

    def __call__(self, scores: Array) -> Array:
        """The output's numbers (n, outputs) for rows of scores, in floats."""
        for op in self.ops:
            scores = op(scores)
        return scores

    def __str__(self) -> str:
        return ", then ".join(map(str, self.ops)) or "no head"


@dataclass(frozen=True)
class Head:
    """What a model does behind its last piecewise-linear op, for each of the network's outputs, in order.

    Two heads are equal if they do the same to the same number of scores; names and shapes do not count.

    Attributes
    ----------
    outputs : tuple of OutputHead
        What becomes of each output's scores.

    Examples
    --------
    >>> head = Head((OutputHead(2, (HeadOp("softmax", (1, 2, 1)),), (2,)),))
    >>> print(head, head([[0.0, 0.0]]).tolist())
    softmax over 2 scores [[0.5, 0.5]]
    """

    outputs: tuple[OutputHead, ...]

    @classmethod
    def of(cls, outputs: Sequence[OutputHead]) -> Head | None:
        """The head of these outputs; None if nothing becomes of any."""
        return cls(tuple(outputs)) if any(output.ops for output in outputs) else None

    @property
    def score_dim(self) -> int:
        """How many scores go in."""
        return sum(output.scores for output in self.outputs)

    @property
    def output_dim(self) -> int:
        """How many numbers come out."""
        return sum(output.outputs for output in self.outputs)

    @property
    def jumps(self) -> bool:
        """Whether an op is an argmax or a hardmax, which jump where scores tie."""
        return any(op.kind in JUMPING for output in self.outputs for op in output.ops)

    @property
    def kinds(self) -> str:
        """The ops by their names only: "softmax", or "softmax and argmax"."""
        return " and ".join(dict.fromkeys(op.kind for output in self.outputs for op in output.ops))

    def __call__(self, scores: ArrayLike) -> Array:
        """The model's outputs for rows of scores, in floats.

        Parameters
        ----------
        scores : array_like, shape (n, score_dim)
            One row of scores per input.

        Returns
        -------
        array of float, shape (n, output_dim)
            One row of outputs per input; a class is its number.
        """
        rows = np.asarray(scores, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.score_dim:
            raise ShapeError(f"the head takes rows of {how_many(self.score_dim, 'score')}, got shape {rows.shape}")
        parts = np.split(rows, np.cumsum([output.scores for output in self.outputs])[:-1], axis=1)
        return np.concatenate([output(part) for output, part in zip(self.outputs, parts, strict=True)], axis=1)

    def __str__(self) -> str:
        if len(self.outputs) == 1:
            return str(self.outputs[0])
        return "; ".join(f"output {k}: {output}" for k, output in enumerate(self.outputs))

    @property
    def text(self) -> str:
        """What is compared, in one line: the same for equal heads and for no others."""
        ops = [[o.scores, [[op.kind, *op.groups, op.last] for op in o.ops]] for o in self.outputs]
        return json.dumps(ops, separators=(",", ":"))

    def to_json(self) -> list[dict[str, Any]]:
        """The head as plain lists, one entry for each output."""
        return [
            {
                "words": str(output),
                "scores": output.scores,
                "shape": list(output.shape),
                "ops": [
                    {"kind": op.kind, "groups": list(op.groups), "last": op.last, "name": op.name} for op in output.ops
                ],
            }
            for output in self.outputs
        ]


def head_json(head: Head | None) -> list[dict[str, Any]] | None:
    """A head as plain lists, or None where there is none."""
    return None if head is None else head.to_json()


def head_from(text: list[dict[str, Any]] | None) -> Head | None:
    """The head of what `head_json` wrote."""
    if text is None:
        return None
    return Head(
        tuple(
            OutputHead(
                int(output["scores"]),
                tuple(
                    HeadOp(op["kind"], tuple(map(int, op["groups"])), bool(op["last"]), str(op["name"]))  # type: ignore[arg-type]  # three are asked for
                    for op in output["ops"]
                ),
                tuple(map(int, output["shape"])),
            )
            for output in text
        )
    )


def joined(one: Head | None, scores: int, other: Head | None, other_scores: int) -> Head | None:
    """The head of two networks side by side, which have so many scores."""
    if one is None and other is None:
        return None
    plain, other_plain = (OutputHead(count, (), (count,)) for count in (scores, other_scores))
    return Head(
        (*((plain,) if one is None else one.outputs), *((other_plain,) if other is None else other.outputs)),
    )


def behind(head: Head | None) -> str:
    """Words that follow the number of outputs in a description."""
    return "" if head is None else f" scores, behind them {head}"


def what_it_speaks_of(head: Head | None) -> str:
    """What a statement on the network's outputs is about: the model's outputs, or the scores before its head.

    >>> what_it_speaks_of(None)
    "the model's outputs"
    """
    return "the model's outputs" if head is None else f"the scores before the {head.kinds}"
