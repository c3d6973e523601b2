"""Operators that people will try, and why they are not read."""

from __future__ import annotations

from polyfold.network.read.torch_ops.site import TORCH_OPS

JUMPS = "it jumps, so it is not piecewise linear and continuous; softshrink is"

TORCH_OPS.refuse(
    *("lstm", "gru", "lstm_cell", "gru_cell"),
    because="its gates multiply computed values with sigmoids, which is not piecewise linear; "
    "nn.RNN with nonlinearity='relu' can be read",
)
TORCH_OPS.refuse(
    *("rnn_tanh", "rnn_tanh_cell"),
    because="tanh is not piecewise linear; give nn.RNN nonlinearity='relu'",
)
TORCH_OPS.refuse(
    *("tanh", "gelu", "silu", "elu", "selu", "celu", "mish", "softplus", "hardswish", "exp", "log", "sqrt"),
    *("square", "rsqrt", "reciprocal", "expm1", "log1p", "log2", "erf", "sin", "cos", "tan", "atan", "sinh", "cosh"),
    because="it is not piecewise linear; relu, leaky_relu, hardtanh and hardsigmoid are",
)
TORCH_OPS.refuse(
    *("layer_norm", "native_layer_norm", "group_norm", "native_group_norm", "instance_norm"),
    because="it divides by a deviation that is computed from the network's input, which is not piecewise linear; "
    "batch normalisation in evaluation mode can be read",
)
TORCH_OPS.refuse(
    *("scaled_dot_product_attention", "_native_multi_head_attention", "glu", "bilinear", "cosine_similarity"),
    because="it multiplies computed values with each other, which is not piecewise linear",
)
# Layers of torch.nn that are refused as soon as one of their ops is met, before anything else in them is.
REFUSED_LAYERS = {
    "MultiheadAttention": "attention multiplies computed values with each other, which is not piecewise linear",
}
TORCH_OPS.refuse(
    *("hardshrink", "sign", "sgn", "floor", "ceil", "round", "trunc", "frac", "heaviside", "remainder", "fmod"),
    *("floor_divide", "bucketize", "searchsorted", "argsort", "argmin", "eq", "ne", "copysign"),
    because=JUMPS,
)
TORCH_OPS.refuse(
    *("max_unpool2d", "max_unpool3d", "fractional_max_pool2d", "fractional_max_pool3d"),
    because="which entries it reads depends on the network's input or on chance",
)
TORCH_OPS.refuse(
    *("prod", "cumprod", "std", "var", "std_mean", "var_mean", "logsumexp", "logcumsumexp", "logaddexp", "hypot"),
    because="it multiplies computed values with each other or takes their roots or logarithms; sum, mean, amax, amin "
    "and the norms of order 1 and infinity can be read",
)
TORCH_OPS.refuse(
    *("cdist", "_cdist_forward", "_pdist_forward"),
    because="distances are read from their parts only; write those of order 1 as (x[:, None] - y).abs().sum(-1) and "
    "those of order infinity with amax",
)
TORCH_OPS.refuse(
    *("median", "nanmedian", "unique", "_unique2", "nonzero", "masked_select"),
    because="it reads the samples of a batch together, or which entries it reads depends on the network's input; "
    "give sort and median an axis",
)
TORCH_OPS.refuse(
    *("item", "_local_scalar_dense"),
    because="it makes a Python number of a computed value, which is then the same for all inputs",
)
