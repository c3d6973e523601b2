"""einsum of one computed value with constants, contracted one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from polyfold.network import compose
from polyfold.network.builder import MIXES_THE_BATCH, Constant, Value
from polyfold.network.ops import size
from polyfold.network.torch_ops.site import TORCH_OPS, TorchSite, array

handles = TORCH_OPS.family("Affine maps")


@handles(
    "einsum",
    becomes="`Linear`, `Combine`, `Scale`, `Take`",
    limits="one computed factor; every index written out, once in each factor",
)
def _einsum(site: TorchSite, equation: str, operands: Sequence[Any], *, path: Any = None) -> Value:
    left, arrow, result = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    computed = [k for k, item in enumerate(operands) if isinstance(item, Value)]
    if len(computed) != 1:
        site.refuse("the product of two computed values is not piecewise linear")
    if not arrow or "." in equation or any(len(set(term)) < len(term) for term in terms):
        site.refuse(f"its equation {equation!r} leaves indices out or repeats one in a factor; write it with matmul")
    (chosen,) = computed
    value, indices = operands[chosen], terms[chosen]
    batch = indices[0]
    if result[:1] != batch or any(batch in term for k, term in enumerate(terms) if k != chosen):
        site.refuse(MIXES_THE_BATCH)
    indices = indices[1:]
    rest = [(terms[k], array(item)) for k, item in enumerate(operands) if k != chosen]
    # What only scales the value comes first, while it has all its indices.
    rest.sort(key=lambda factor: not set(factor[0]) <= set(indices))
    for k, (term, numbers) in enumerate(rest):
        later = "".join(other for other, _ in rest[k + 1 :]) + result
        part = replace(site, name=site.name if k + 1 == len(rest) else f"{site.name}.factor{k}")
        value, indices = _times(part, value, indices, term, numbers, later)
    if sorted(indices) != sorted(result[1:]):
        site.refuse(f"its equation {equation!r} sums over an index of the computed value alone; use sum")
    return _ordered(site, value, indices, result[1:], part="order")


def _times(site: TorchSite, value: Value, indices: str, term: str, numbers: Constant, later: str) -> tuple[Value, str]:
    """The product with one constant, summed over what nothing needs later; the result's indices go with it."""
    own = tuple(k for k, index in enumerate(term) if index not in indices and index not in later)
    numbers = numbers.sum(axis=own)
    term = "".join(index for k, index in enumerate(term) if k not in own)
    summed = [index for index in term if index in indices and index not in later]
    shared = [index for index in term if index in indices and index in later]
    if shared and (summed or len(shared) < len(term)):
        site.refuse(f"index {shared[0]!r} of a constant is neither summed nor its only one; write it with matmul")
    if shared:
        order = [term.index(index) for index in indices if index in term]
        around = [n if index in term else 1 for index, n in zip(indices, value.shape, strict=True)]
        return compose.scale(site, value, numbers.transpose(order).reshape(around)), indices
    new = [index for index in term if index not in indices]
    kept = [index for index in indices if index not in summed]
    turned = _ordered(site, value, indices, "".join(summed + kept), part="turned")
    width = size(tuple(turned.shape[len(summed) :]))
    flat = compose.reshape(site, turned, (size(turned.shape) // width, width), part="flat")
    lengths = dict(zip(term, numbers.shape, strict=True)) | dict(zip(indices, value.shape, strict=True))
    matrix = numbers.transpose([term.index(index) for index in new + summed]).reshape(-1, flat.shape[0])
    product = compose.matmul(site, np.asarray(matrix), flat)
    shape = tuple(lengths[index] for index in new + kept)
    return compose.reshape(site, product, shape, part="shape"), "".join(new + kept)


def _ordered(site: TorchSite, value: Value, indices: str, wanted: str, part: str) -> Value:
    order = [indices.index(index) for index in wanted]
    return compose.rearrange(site, value, compose.positions(value.shape).transpose(order), part=part)
