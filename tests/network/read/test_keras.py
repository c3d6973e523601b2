"""Networks from Keras, by way of its ONNX export."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

os.environ.setdefault("KERAS_BACKEND", "torch")
keras: Any = pytest.importorskip("keras")
pytest.importorskip("onnxscript")

from polyfold.errors import NetworkError, UnsupportedOpError
from polyfold.network import load

layers = keras.layers


def test_classifier_with_normalisation_and_dropout() -> None:
    model = keras.Sequential(
        [
            keras.Input((4,)),
            layers.Dense(5, activation="relu"),
            layers.BatchNormalization(),
            layers.LeakyReLU(0.2),
            layers.Dropout(0.3),
            layers.Dense(3, activation="softmax"),
        ]
    )
    network = load(model)
    points = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
    np.testing.assert_allclose(network.model_outputs(points), model.predict_on_batch(points), atol=1e-5)
    assert network.source == "keras" and str(network.head) == "softmax over 3 scores"


def test_two_inputs_and_two_outputs() -> None:
    a, b = keras.Input((2,)), keras.Input((3, 2))
    hidden = layers.Concatenate()([layers.Dense(4, activation="relu")(a), layers.Flatten()(layers.PReLU()(b))])
    network = load(keras.Model([a, b], [layers.Dense(2)(hidden), layers.ReLU(max_value=1)(hidden)]))
    assert [port.shape for port in network.inputs] == [(2,), (3, 2)]
    assert network.output_dim == 12


def test_images_have_their_channels_last() -> None:
    model = keras.Sequential(
        [
            keras.Input((12, 12, 2)),
            layers.Conv2D(4, 3, activation="relu", padding="same"),
            layers.MaxPooling2D(),
            layers.DepthwiseConv2D(3),
            layers.Conv2DTranspose(3, 3, strides=2, padding="same"),
            layers.UpSampling2D(interpolation="bilinear"),
            layers.AveragePooling2D(2),
            layers.GlobalMaxPooling2D(),
        ]
    )
    assert load(model).output_dim == 3


def test_recurrent_layers() -> None:
    model = keras.Sequential([keras.Input((4, 2)), layers.SimpleRNN(3, activation="relu")])
    assert load(model).output_dim == 3


def test_tanh_is_refused_with_the_models_name() -> None:
    model = keras.Sequential([keras.Input((4,)), layers.Dense(5, activation="tanh")], name="mine")
    with pytest.raises(UnsupportedOpError, match=r"'mine'.*Tanh"):
        load(model)


def test_an_unbuilt_model_says_what_to_do() -> None:
    with pytest.raises(NetworkError, match=r"'unbuilt' has no known input shape.*keras\.Input"):
        load(keras.Sequential([layers.Dense(5)], name="unbuilt"))
