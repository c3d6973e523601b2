"""What is known of torch operators on constants agrees with torch, operator by operator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import fmpq

from polyfold.network.read.folding.folded import Folded

torch: Any = pytest.importorskip("torch")

from polyfold.network.read.folding import torch_constants

aten = torch.ops.aten


def thirds(*shape: int) -> Folded:
    """1/3, 2/3, 4/3, 5/3, ... under a shape: no float is among them."""
    count = int(np.prod(shape))
    exact = np.empty(count, dtype=object)
    exact[:] = [fmpq(k + k // 2 + 1, 3) for k in range(count)]
    floats = torch.tensor([float(value) for value in exact], dtype=torch.float64)
    return Folded(floats.reshape(shape), exact.reshape(shape))


A, B, V = thirds(2, 3), thirds(3, 2), thirds(3)
CASES: dict[str, list[tuple[Any, tuple[Any, ...], dict[str, Any]]]] = {
    "add": [(aten.add.Tensor, (A, V), {"alpha": 2}), (aten.add.Scalar, (A, 0.1), {})],
    "sub": [(aten.sub.Tensor, (A, V), {"alpha": 0.5})],
    "rsub": [(aten.rsub.Scalar, (A, 0.1, 2), {})],
    "mul": [(aten.mul.Tensor, (A, V), {}), (aten.mul.Scalar, (A, 0.1), {})],
    "outer": [(aten.outer.default, (V, V), {})],
    "div": [(aten.div.Tensor, (A, V), {})],
    "pow": [(aten.pow.Tensor_Scalar, (A, p), {}) for p in (2, -1, 0.5, -0.5)],
    **{
        name: [(getattr(aten, name).default, (A,), {})]
        for name in (
            *("square", "reciprocal", "neg", "abs", "sigmoid", "relu", "sqrt", "exp", "expm1", "log", "log1p", "sin"),
            *("cos", "tan", "atan", "sinh", "cosh", "tanh", "erf", "rsqrt", "floor", "ceil", "round", "trunc", "sign"),
        )
    },
    **{name: [(getattr(aten, name).default, (thirds(2),), {})] for name in ("asin", "acos")},
    "maximum": [(aten.maximum.default, (A, V), {})],
    "minimum": [(aten.minimum.default, (A, V), {})],
    "clamp": [(aten.clamp.default, (A, 0.5, 1.5), {}), (aten.clamp.default, (A, 0.5), {})],
    "clamp_min": [(aten.clamp_min.default, (A, 0.5), {})],
    "clamp_max": [(aten.clamp_max.default, (A, 0.5), {})],
    "sum": [(aten.sum.default, (A,), {}), (aten.sum.dim_IntList, (A, [1], True), {})],
    "mean": [(aten.mean.default, (A,), {}), (aten.mean.dim, (A, [-1]), {})],
    "var": [(aten.var.correction, (A, [1]), {"correction": 0}), (aten.var.dim, (A, [1], True, True), {})],
    "std": [(aten.std.correction, (A,), {}), (aten.std.dim, (A, [0], False), {})],
    "linalg_vector_norm": [(aten.linalg_vector_norm.default, (A, p, [1], True), {}) for p in (1, 2)],
    "_weight_norm": [(aten._weight_norm.default, args, {}) for args in ((A, thirds(2, 1)), (A, thirds(1, 3), 1))],
    "cumsum": [(aten.cumsum.default, (A, 1), {})],
    "matmul": [(aten.matmul.default, (A, B), {}), (aten.matmul.default, (A, V), {})],
    "mm": [(aten.mm.default, (A, B), {})],
    "mv": [(aten.mv.default, (A, V), {})],
    "bmm": [(aten.bmm.default, (thirds(2, 2, 3), thirds(2, 3, 1)), {})],
    "dot": [(aten.dot.default, (V, V), {})],
    "vdot": [(aten.vdot.default, (V, V), {})],
    "addmm": [(aten.addmm.default, (thirds(2), A, B), {"beta": 2, "alpha": 0.5})],
    "linear": [(aten.linear.default, (A, thirds(4, 3), thirds(4)), {})],
    "einsum": [(aten.einsum.default, ("ij,j->i", [A, V]), {})],
    "arange": [(aten.arange.start_step, (0.1, 2.0, 0.3), {"dtype": torch.float64})],
    "linspace": [(aten.linspace.default, (0.1, 0.7, 4), {"dtype": torch.float64})],
    "_to_copy": [(aten._to_copy.default, (A,), {"dtype": t}) for t in (torch.float32, torch.float16, torch.int64)],
    "permute": [(aten.permute.default, (A, [1, 0]), {})],
    "cat": [(aten.cat.default, ([A, A], 1), {})],
    "split": [(aten.split.Tensor, (V, 2), {})],
    "index": [(aten.index.Tensor, (V, [torch.tensor([2, 0])]), {})],
}


def test_every_operator_has_a_case() -> None:
    assert {*torch_constants._EXACT, *torch_constants._STAIRCASES} - set(CASES) == set()


@pytest.mark.parametrize("op", CASES)
def test_numbers_are_those_of_torch(op: str) -> None:
    for target, args, kwargs in CASES[op]:
        plain = torch.utils._pytree.tree_map(lambda item: item.runtime if isinstance(item, Folded) else item, args)
        result = target(*plain, **kwargs)
        found = torch_constants.computed(op, target, args, kwargs, result)
        pairs = zip(found, result, strict=True) if isinstance(result, list | tuple) else [(found, result)]
        for one, expected in pairs:
            exact = torch_constants.exact_of(one)
            floats = np.array([float(v.ball.mid()) if hasattr(v, "ball") else float(v) for v in exact.ravel()])
            tolerance = {torch.float32: 1e-6, torch.float16: 1e-3}.get(expected.dtype, 1e-12)
            np.testing.assert_allclose(floats.reshape(exact.shape), expected.double().numpy(), rtol=tolerance)
