"""Matrix products and sums of products, with one computed factor, for torch's and ONNX's importers.

In einsum constants are multiplied with the value one after the other. The indices of such a product are of four
kinds: shared ones that stay, shared ones that are summed, and those of one factor alone.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from polyfold.exact.reals import are_reals
from polyfold.network.ops.op import Shape, size
from polyfold.network.read.builder import Constant, Operand, Site, Value
from polyfold.network.read.compose import ops as compose
from polyfold.network.read.compose.combining import combine, is_sparse, sparse_times_value
from polyfold.network.read.folding import arithmetic


def matmul(site: Site, x: Operand, y: Operand) -> Value:
    """x @ y where one of them is constant."""
    if isinstance(x, Value):
        if isinstance(y, Value):
            site.refuse("the matrix product of two computed values is not piecewise linear")
        return _value_times_matrix(site, x, y)
    assert isinstance(y, Value)
    return _matrix_times_value(site, x, y)


def product_and_sum(site: Site, x: Operand, y: Operand, added: Operand | None, alpha: float, beta: float) -> Value:
    """alpha * x @ y + beta * added."""
    inner = replace(site, name=f"{site.name}.product")
    result = matmul(inner, x, y)
    if alpha != 1:
        result = compose.scale(inner, result, np.array(float(alpha)))
    if added is None:
        return result
    if isinstance(added, Value):
        return compose.add(site, result, compose.scale(site, added, np.array(float(beta)), "beta"))
    return compose.shift_by_multiple(site, result, beta, added)


def _value_times_matrix(site: Site, x: Value, matrix: Constant) -> Value:
    if not x.shape:
        x = site.unbatch(x)
    matrix = _single_matrix(site, matrix, x)
    if matrix.ndim > 2:
        return einsum(site, "k,...kn->...n" if x.rank == 1 else "...pk,...kn->...pn", [x, matrix])
    if matrix.ndim == 2:
        return compose.linear(site, x, matrix.T)
    product = compose.linear(site, x, matrix[None], part="product")
    return compose.reshape(site, product, product.shape[:-1])


def _matrix_times_value(site: Site, matrix: Constant, x: Value) -> Value:
    if x.rank <= 2:
        x = site.unbatch(x)
    matrix = _single_matrix(site, matrix, x)
    if matrix.ndim > 2:
        return einsum(site, "...pk,k->...p" if x.rank == 1 else "...pk,...kn->...pn", [matrix, x])
    rows = np.atleast_2d(matrix)
    if x.rank == 1:
        product = compose.linear(site, x, rows, part="product" if matrix.ndim == 1 else "")
        return product if matrix.ndim == 2 else compose.reshape(site, product, ())
    if matrix.ndim == 2 and is_sparse(matrix):
        return sparse_times_value(site, matrix, x)
    turned = compose.rearrange(site, x, np.swapaxes(compose.positions(x.shape), -1, -2), part="turned")
    product = compose.linear(site, turned, rows, part="product")
    result = np.swapaxes(compose.positions(product.shape), -1, -2)
    return compose.rearrange(site, product, result if matrix.ndim == 2 else result[..., 0, :])


def _single_matrix(site: Site, matrix: Constant, x: Value) -> Constant:
    """A constant factor without leading axes of length one."""
    if matrix.ndim == 0:
        site.refuse("a matrix product with a single number")
    if matrix.ndim > 2 and x.batched and matrix.ndim == x.rank and compose.same_for_all_samples(site, matrix):
        matrix = matrix[0]
    if 2 < matrix.ndim <= x.rank and size(matrix.shape[:-2]) == 1:
        return matrix.reshape(matrix.shape[-2:])
    return matrix


def einsum(site: Site, equation: str, operands: Sequence[Operand]) -> Value:
    """The sum of products that the equation says; exactly one operand may be computed."""
    computed = [k for k, operand in enumerate(operands) if isinstance(operand, Value)]
    if len(computed) != 1:
        site.refuse("the product of two computed values is not piecewise linear")
    (chosen,) = computed
    value = operands[chosen]
    assert isinstance(value, Value)
    ranks = [operand.rank if isinstance(operand, Value) else operand.ndim for operand in operands]
    terms, result = written_out(site, equation, ranks)
    indices = terms[chosen]
    others = [term for k, term in enumerate(terms) if k != chosen]
    constants = [operand for operand in operands if not isinstance(operand, Value)]
    if value.batched:
        batch, indices = indices[0], indices[1:]
        if batch in indices or result[:1] != batch:
            return einsum(site, equation, [site.unbatch(x) if isinstance(x, Value) else x for x in operands])
        result = result[1:]
        for k, term in enumerate(others):
            if batch in term:
                constants[k] = _one_sample(site, constants[k], term.index(batch))
                others[k] = term.replace(batch, "")
    value, indices = _distinct(site, value, indices)
    value, indices = _without(site, value, indices, set("".join(others) + result))
    rest = list(zip(others, constants, strict=True))
    while rest:
        # What only scales the value comes first, while it has all its indices; then what meets it in an index.
        rest.sort(key=lambda factor: (not set(factor[0]) <= set(indices), set(factor[0]).isdisjoint(indices)))
        (term, numbers), *rest = rest
        later = "".join(other for other, _ in rest) + result
        where = replace(site, name=f"{site.name}.factor{len(rest)}") if rest else site
        value, indices = _product(where, value, indices, numbers, term, later)
    return _ordered(site, value, indices, result, part="order")


def written_out(site: Site, equation: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """The terms and the result of an equation, with letters for an ellipsis and for a result that is left out.

    >>> written_out(Site(None, "node", "einsum"), "...i,oi->...o", [3, 2])
    (['ABi', 'oi'], 'ABo')
    """
    left, arrow, result = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        site.refuse(f"its equation {equation!r} has {len(terms)} terms for {len(ranks)} factors")
    free = [letter for letter in string.ascii_uppercase + string.ascii_lowercase if letter not in equation]
    lengths = [rank - len(term.replace("...", "")) for term, rank in zip(terms, ranks, strict=True)]
    most = max((n for term, n in zip(terms, lengths, strict=True) if "..." in term), default=0)
    if min(lengths) < 0 or most > len(free) or any(n for n, t in zip(lengths, terms, strict=True) if "..." not in t):
        site.refuse(f"its equation {equation!r} does not fit factors with {list(ranks)} axes")
    around = "".join(free[:most])
    terms = [
        term.replace("...", around[most - n :]) if n else term.replace("...", "")
        for term, n in zip(terms, lengths, strict=True)
    ]
    if arrow:
        return terms, result.replace("...", around)
    counted = "".join(terms)
    once = sorted(index for index in set(counted) - set(around) if counted.count(index) == 1)
    return terms, around + "".join(once)


def _one_sample(site: Site, numbers: Constant, axis: int) -> Constant:
    """A constant with a batch axis as one sample's, which all must share."""
    first = np.moveaxis(numbers, axis, 0)
    if not (first == first[:1]).all():
        site.refuse(f"a constant of shape {numbers.shape} differs from sample to sample")
    return np.asarray(first[0])


def _distinct(site: Site, value: Value, indices: str) -> tuple[Value, str]:
    """The diagonal along every index that the value has twice."""
    once = "".join(dict.fromkeys(indices))
    if once == indices:
        return value, indices
    where = np.einsum(f"{indices}->{once}", compose.positions(value.shape))
    return compose.rearrange(site, value, where, part="diagonal"), once


def _without(site: Site, value: Value, indices: str, needed: set[str]) -> tuple[Value, str]:
    """The value summed over the indices that nothing else has."""
    axes = [axis for axis, index in enumerate(indices) if index not in needed]
    if not axes:
        return value, indices
    summed = compose.total(site, value, axes, keepdims=False)
    return summed, "".join(index for index in indices if index in needed)


def _product(site: Site, value: Value, indices: str, numbers: Constant, term: str, later: str) -> tuple[Value, str]:
    """The product with a constant, summed over all indices of the two that nothing needs later."""
    once = "".join(dict.fromkeys(index for index in term if index in indices + later))
    added_up = set(term) - set(once)
    numbers = arithmetic.einsum(f"{term}->{once}", numbers) if added_up else np.einsum(f"{term}->{once}", numbers)
    term = once
    summed = [index for index in indices if index in term and index not in later]
    shared = [index for index in indices if index in term and index in later]
    alone = [index for index in indices if index not in term]
    new = [index for index in term if index not in indices]
    lengths = dict(zip(term, numbers.shape, strict=True))
    lengths |= {index: max(n, lengths.get(index, n)) for index, n in zip(indices, value.shape, strict=True)}
    # A factor of length one along an index stands for all of its places.
    full = tuple(lengths[index] for index in indices)
    value = compose.rearrange(site, value, np.broadcast_to(compose.positions(value.shape), full), part="spread")
    numbers = np.broadcast_to(numbers, [lengths[index] for index in term])
    matrices = numbers.transpose([term.index(index) for index in (*shared, *new, *summed)])
    if not summed and not new:
        around = [lengths[index] if index in term else 1 for index in indices]
        order = [shared.index(index) for index in indices if index in term]
        return compose.scale(site, value, matrices.transpose(order).reshape(around)), indices

    def shape(*kinds: list[str]) -> Shape:
        return tuple(lengths[index] for kind in kinds for index in kind)

    turned = _ordered(site, value, indices, "".join((*shared, *alone, *summed)), part="turned")
    flat = compose.reshape(site, turned, (size(shape(shared)), size(shape(alone)), size(shape(summed))), part="flat")
    blocks = matrices.reshape(size(shape(shared)), size(shape(new)), size(shape(summed)))
    one = len(blocks) == 1 and not is_sparse(blocks[0])
    if one:
        product = compose.linear(site, flat, blocks[0])
    else:
        product = (_products_added_up if are_reals(blocks) else block_product)(site, flat, blocks)
    return compose.reshape(site, product, shape(shared, alone, new), part="shape"), "".join((*shared, *alone, *new))


def block_product(site: Site, x: Value, blocks: Constant) -> Value:
    """A matrix of its own for each slice of x: (blocks, rows, inputs) and (blocks, outputs, inputs)."""
    from scipy import sparse

    rows = sparse.eye_array(x.shape[1])
    matrix = sparse.block_diag([sparse.kron(rows, sparse.csr_array(block)) for block in blocks], format="csr")
    return combine(site, x, sparse.csr_array(matrix), (len(blocks), x.shape[1], blocks.shape[1]))


def _products_added_up(site: Site, x: Value, blocks: Constant) -> Value:
    """The same by single products, whose factors may be any numbers."""
    count, rows, inputs = x.shape
    shape = (count, rows, blocks.shape[1], inputs)
    places = np.broadcast_to(compose.positions(x.shape)[:, :, None], shape)
    spread = compose.rearrange(site, x, np.array(places), part="factors")
    terms = compose.scale(site, spread, blocks[:, None], part="products")
    return compose.total(site, terms, [3], keepdims=False)


def _ordered(site: Site, value: Value, indices: str, wanted: str, part: str) -> Value:
    if sorted(indices) != sorted(wanted):
        site.refuse(f"an index of its result {wanted!r} is in no factor, or twice")
    order = [indices.index(index) for index in wanted]
    return compose.rearrange(site, value, compose.positions(value.shape).transpose(order), part=part)
