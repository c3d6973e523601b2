"""Programs as JSON: what a file says of the network that its atlas speaks of, in the form that the program has.

A structured program stays one: its forms and operators are listed once each, in an order in which every form comes
behind its parts, and refer to each other by their numbers.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from polyfold.network.head import head_from, head_json
from polyfold.network.ops.convolve import Window
from polyfold.program.affine import Affine, Block, Structured, WrittenOut
from polyfold.program.forms import Applied, Entries, Form, Nothing, Scaled, Stacked, Summed, Taken
from polyfold.program.lower.changes import Change
from polyfold.program.operators import Convolved, Matrix, Operator, Sparse
from polyfold.program.origins import GateOrigin, GateOrigins, OriginGroup
from polyfold.program.pools import NO_POOLS, Pools
from polyfold.program.program import Program, Stage
from polyfold.program.rounding import Rounding

Json = dict[str, Any]
_Item = TypeVar("_Item")


def program_text(program: Program) -> Json:
    """A program as JSON."""
    parts = _Parts()
    return {
        "input_dim": program.input_dim,
        "stages": [
            {"affine": parts.affine(s.affine), "slope_on": array_text(s.slope_on), "slope_off": array_text(s.slope_off)}
            for s in program.stages
        ],
        "output": parts.affine(program.output),
        "origins": _origins_text(program.origins),
        "rounding": None if program.rounding is None else _rounding_text(program.rounding),
        "operators": parts.operators,
        "forms": parts.forms,
        "head": head_json(program.head),
        "pools": {each.name: array_text(getattr(program.pools, each.name)) for each in fields(program.pools)},
    }


def program_from(text: Json) -> Program:
    """The program of a text. What does not fit raises one of the errors that reading any text can raise."""
    operators = [_operator_from(each) for each in text["operators"]]
    forms: list[Form] = []
    for each in text["forms"]:
        forms.append(_form_from(each, forms, operators))
    widths = (int(text["input_dim"]), *(int(s["slope_on"]["shape"][0]) for s in text["stages"]))
    return Program(
        input_dim=int(text["input_dim"]),
        stages=tuple(
            Stage(_affine_from(s["affine"], forms, widths), array_from(s["slope_on"]), array_from(s["slope_off"]))
            for s in text["stages"]
        ),
        output=_affine_from(text["output"], forms, widths),
        origins=_origins_from(text["origins"]),
        rounding=_rounding_from(text),
        head=head_from(text.get("head")),
        pools=_pools_from(text),
    )


def _pools_from(text: Json) -> Pools:
    # Files of 0.1 know of none.
    known = text.get("pools")
    return NO_POOLS if known is None else Pools(**{name: array_from(each, "int64") for name, each in known.items()})


def array_text(array: npt.NDArray[Any]) -> Json:
    """An array of float64 or of whole numbers: its shape, and its bytes in base64."""
    kind = "int64" if np.issubdtype(array.dtype, np.integer) else "float64"
    little = np.ascontiguousarray(array, dtype=f"<{kind[0]}8")
    return {"shape": list(array.shape), kind: base64.b64encode(little.tobytes()).decode()}


def array_from(text: Json, kind: str = "float64") -> npt.NDArray[Any]:
    """The array of a text, read-only."""
    array = np.frombuffer(base64.b64decode(text[kind]), dtype=f"<{kind[0]}8").reshape(text["shape"]).astype(kind)
    array.setflags(write=False)
    return array


class _Parts:
    """The forms and operators met so far."""

    def __init__(self) -> None:
        self.operators: list[Json] = []
        self.forms: list[Json] = []
        self._operator_number: dict[int, int] = {}
        self._form_number: dict[int, int] = {}

    def affine(self, affine: Affine) -> Json:
        if isinstance(affine, Structured):
            return {"form": self._form(affine.form), "bias": array_text(affine.bias)}
        return {"blocks": [[b.source, array_text(b.weight)] for b in affine.blocks], "bias": array_text(affine.bias)}

    def _form(self, form: Form) -> int:
        if id(form) not in self._form_number:
            text = self._form_text(form, [self._form(part) for part in form.parts])
            self._form_number[id(form)] = len(self.forms)
            self.forms.append({"kind": form.kind, **text})
        return self._form_number[id(form)]

    def _form_text(self, form: Form, parts: list[int]) -> Json:
        match form:
            case Entries():
                return {"source": form.source, "first": form.first, "count": form.count}
            case Nothing():
                return {"count": form.count}
            case Applied():
                return {"operator": self._operator(form.operator), "parts": parts}
            case Scaled():
                return {"factor": array_text(form.factor), "parts": parts}
            case Taken():
                return {"index": array_text(form.index), "parts": parts}
            case Summed() | Stacked():
                return {"parts": parts}
        raise AssertionError(f"{type(form).__name__} cannot be stored")

    def _operator(self, operator: Operator) -> int:
        if id(operator) not in self._operator_number:
            self._operator_number[id(operator)] = len(self.operators)
            self.operators.append({"kind": operator.kind, **_operator_text(operator)})
        return self._operator_number[id(operator)]


def _operator_text(operator: Operator) -> Json:
    match operator:
        case Matrix():
            return {"weight": array_text(operator.weight), "groups": operator.groups}
        case Sparse():
            matrix = operator.matrix
            return {
                "shape": [int(n) for n in matrix.shape],
                "data": array_text(matrix.data),
                "indices": array_text(matrix.indices),
                "indptr": array_text(matrix.indptr),
            }
        case Convolved():
            window = operator.window
            return {
                "kernel": array_text(operator.kernel),
                "stride": list(map(int, window.stride)),
                "padding": [[int(before), int(after)] for before, after in window.padding],
                "dilation": list(map(int, window.dilation)),
                "groups": int(window.groups),
                "space": list(map(int, operator.space)),
                "turned": bool(operator.turned),
            }
    raise AssertionError(f"{type(operator).__name__} cannot be stored")


def _operator_from(text: Json) -> Operator:
    match text["kind"]:
        case Matrix.kind:
            return Matrix(array_from(text["weight"]), int(text["groups"]))
        case Sparse.kind:
            from scipy.sparse import csr_array

            places = (array_from(text[name], "int64") for name in ("indices", "indptr"))
            return Sparse(csr_array((array_from(text["data"]), *places), shape=tuple(text["shape"])))
        case Convolved.kind:
            window = Window(
                tuple(text["stride"]),
                tuple((before, after) for before, after in text["padding"]),
                tuple(text["dilation"]),
                text["groups"],
            )
            return Convolved(array_from(text["kernel"]), window, tuple(text["space"]), text["turned"])
    raise ValueError(f"there is no operator {text['kind']!r}")


def _form_from(text: Json, known: Sequence[Form], operators: Sequence[Operator]) -> Form:
    parts = tuple(_entry(known, number) for number in text.get("parts", ()))
    match text["kind"]:
        case Entries.kind:
            return Entries(int(text["source"]), int(text["first"]), int(text["count"]))
        case Nothing.kind:
            return Nothing(int(text["count"]))
        case Applied.kind:
            return Applied(_entry(operators, text["operator"]), *parts)
        case Scaled.kind:
            return Scaled(array_from(text["factor"]), *parts)
        case Taken.kind:
            return Taken(array_from(text["index"], "int64"), *parts)
        case Summed.kind:
            return Summed(parts)
        case Stacked.kind:
            return Stacked(parts)
    raise ValueError(f"there is no form {text['kind']!r}")


def _entry(items: Sequence[_Item], number: int) -> _Item:
    if number < 0:
        raise IndexError(f"there is no part {number}")
    return items[number]


def _affine_from(text: Json, forms: Sequence[Form], widths: tuple[int, ...]) -> Affine:
    bias = array_from(text["bias"])
    if "form" in text:
        return Structured(_entry(forms, text["form"]), bias, widths)
    return WrittenOut(tuple(Block(int(source), array_from(weight)) for source, weight in text["blocks"]), bias)


def _rounding_text(rounding: Rounding) -> Json:
    """What was rounded; of a program that is not stored, only that something was."""
    changes = None
    if rounding.of is None:
        changes = [None if change is None else _change_text(change) for change in rounding.changes]
    return {"why": list(rounding.why), "changes": changes}


def _change_text(change: Change) -> Json:
    moved = [[int(source), array_text(sums)] for source, sums in change.of_source.items()]
    return {"of_source": moved, "of_bias": array_text(change.of_bias)}


def _rounding_from(text: Json) -> Rounding | None:
    if "rounding" not in text:
        # Files that were written before programs said it: nothing is known of them.
        return _unknown(("the program of a file that does not say whether it was rounded",), text)
    rounding = text["rounding"]
    if rounding is None:
        return None
    why = tuple(map(str, rounding["why"]))
    if rounding["changes"] is None:
        return _unknown(why, text)
    changes = tuple(None if each is None else _change_from(each) for each in rounding["changes"])
    if len(changes) != len(text["stages"]) + 1:
        raise ValueError(f"{len(changes)} changes are stored of {len(text['stages'])} stages and an output")
    return Rounding(why, changes)


def _unknown(why: tuple[str, ...], text: Json) -> Rounding:
    """Rounded, nobody knows how much."""
    rows = [each["bias"]["shape"][0] for each in (*(s["affine"] for s in text["stages"]), text["output"])]
    return Rounding(why, tuple(Change({}, np.full(count, np.inf)) for count in rows))


def _change_from(text: Json) -> Change:
    return Change({int(s): array_from(sums) for s, sums in text["of_source"]}, array_from(text["of_bias"]))


def _origins_text(origins: Sequence[GateOrigin]) -> list[Any]:
    if isinstance(origins, GateOrigins):
        return [
            {"node": g.node, "shape": list(map(int, g.shape)), "entries": array_text(g.entries), "role": g.role}
            for g in origins.groups
        ]
    return [[o.node, list(o.index), o.role] for o in origins]


def _origins_from(text: list[Any]) -> Sequence[GateOrigin]:
    if text and isinstance(text[0], dict):
        return GateOrigins(
            [OriginGroup(g["node"], tuple(g["shape"]), array_from(g["entries"], "int64"), g["role"]) for g in text]
        )
    return tuple(GateOrigin(node, tuple(index), role) for node, index, role in text)
