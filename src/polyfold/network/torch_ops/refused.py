"""Operators that people will try, and why they are not read."""

from __future__ import annotations

from polyfold.network.torch_ops.site import TORCH_OPS

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
    *("tanh", "gelu", "silu", "elu", "selu", "celu", "mish", "softplus", "hardswish", "exp", "log", "sqrt", "pow"),
    because="it is not piecewise linear; relu, leaky_relu, hardtanh and hardsigmoid are",
)
TORCH_OPS.refuse(
    *("layer_norm", "native_layer_norm", "group_norm", "native_group_norm", "instance_norm"),
    because="it divides by a deviation that is computed from the network's input, which is not piecewise linear; "
    "batch normalisation in evaluation mode can be read",
)
TORCH_OPS.refuse(
    *("scaled_dot_product_attention", "_native_multi_head_attention"),
    because="attention multiplies computed values, which is not piecewise linear",
)
TORCH_OPS.refuse(
    *("hardshrink", "sign", "floor", "ceil", "round", "trunc", "heaviside"),
    because=JUMPS,
)
TORCH_OPS.refuse(
    *("max_unpool2d", "max_unpool3d", "fractional_max_pool2d", "fractional_max_pool3d"),
    because="which entries it reads depends on the network's input or on chance",
)
