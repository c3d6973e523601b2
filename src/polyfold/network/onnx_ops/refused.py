"""Operators that people will try, and why they are not read."""

from __future__ import annotations

from polyfold.network.onnx_ops.site import ONNX_OPS

ONNX_OPS.refuse(
    *("LSTM", "GRU"),
    because="its gates multiply computed values with sigmoids, which is not piecewise linear; "
    "RNN with Relu can be read",
)
ONNX_OPS.refuse(
    *("Tanh", "Gelu", "Elu", "Selu", "Celu", "Mish", "Softplus", "HardSwish", "Exp", "Log", "Sqrt", "Pow", "Erf"),
    because="it is not piecewise linear; Relu, LeakyRelu, Clip and HardSigmoid are",
)
ONNX_OPS.refuse(
    *("LayerNormalization", "InstanceNormalization", "GroupNormalization", "LpNormalization", "LpPool", "LRN"),
    because="it divides by a norm or deviation that is computed from the network's input, which is not piecewise "
    "linear; BatchNormalization can be read",
)
ONNX_OPS.refuse(
    *("Sign", "Floor", "Ceil", "Round"),
    because="it jumps, so it is not piecewise linear and continuous",
)
ONNX_OPS.refuse(
    *("MaxUnpool", "MaxRoiPool", "RoiAlign", "NonMaxSuppression", "TopK"),
    because="which entries it reads depends on the network's input",
)
