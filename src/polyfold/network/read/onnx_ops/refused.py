"""Operators that people will try, and why they are not read."""

from __future__ import annotations

from polyfold.network.read.onnx_ops.site import ONNX_OPS

ONNX_OPS.refuse(
    *("LSTM", "GRU"),
    because="its gates multiply computed values with sigmoids, which is not piecewise linear; "
    "RNN with Relu can be read",
)
ONNX_OPS.refuse(
    *(
        "Tanh",
        "Gelu",
        "Elu",
        "Selu",
        "Celu",
        "Mish",
        "Swish",
        "Softplus",
        "Softsign",
        "HardSwish",
        "Exp",
        "Log",
        "Sqrt",
    ),
    *("Erf", "Reciprocal", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh"),
    *("Asinh", "Acosh", "Atanh"),
    because="it is not piecewise linear; Relu, LeakyRelu, Clip and HardSigmoid are",
)
ONNX_OPS.refuse(
    *("LayerNormalization", "InstanceNormalization", "GroupNormalization", "RMSNormalization"),
    *("MeanVarianceNormalization", "LpNormalization", "LRN"),
    because="it divides by a norm or deviation that is computed from the network's input, which is not piecewise "
    "linear; BatchNormalization can be read",
)
ONNX_OPS.refuse(
    *("Sign", "Floor", "Ceil", "Round", "Mod", "ArgMin", "Equal", "IsNaN", "IsInf", "QuantizeLinear"),
    because="it jumps, so it is not piecewise linear and continuous",
)
ONNX_OPS.refuse(
    *("MaxUnpool", "MaxRoiPool", "RoiAlign", "NonMaxSuppression", "Unique", "NonZero"),
    because="which entries it reads depends on the network's input",
)
ONNX_OPS.refuse(
    *("ReduceL2", "ReduceSumSquare", "ReduceProd", "ReduceLogSum", "ReduceLogSumExp", "CumProd", "Det"),
    because="it multiplies computed values with each other or takes their roots or logarithms; ReduceSum, ReduceMean, "
    "ReduceL1, ReduceMax and ReduceMin can be read",
)
ONNX_OPS.refuse(
    *("Attention", "LinearAttention", "FlexAttention", "SwiGLU"),
    because="it multiplies computed values with each other, which is not piecewise linear",
)
ONNX_OPS.refuse(
    *("If", "Loop", "Scan"),
    because="it holds a graph of its own; export the model without control flow (unrolled, with maxima for an if)",
)
