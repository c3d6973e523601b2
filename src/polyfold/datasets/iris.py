"""The bundled Iris classifier, trained by tools/train_iris.py, and the flowers that it did not see in training."""

from __future__ import annotations

from polyfold._base.types import Array
from polyfold.datasets.bundled import FOLDER, Layers, read
from polyfold.network.ops.op import constant


def iris() -> Layers:
    """The bundled Iris classifier: petal length and width in, one score per species out.

    Returns
    -------
    list of pairs of array, shapes (outputs, inputs) and (outputs,)
        The layers (W, b), a ReLU between every two of them.

    Examples
    --------
    >>> [weight.shape for weight, bias in iris()]
    [(5, 2), (7, 5), (4, 7), (3, 4)]
    """
    return list(read("iris").layers)


def iris_test() -> tuple[Array, tuple[str, ...]]:
    """The 60 flowers that the bundled Iris classifier did not see in training.

    Returns
    -------
    array of float, shape (60, 2)
        Length and width of their petals.
    tuple of str
        Their species.

    Examples
    --------
    >>> petals, species = iris_test()
    >>> petals.shape, sorted(set(species))
    ((60, 2), ['setosa', 'versicolor', 'virginica'])
    """
    _, *lines = (FOLDER / "iris_test.csv").read_text(encoding="utf-8").splitlines()
    rows = [line.split(",") for line in lines]
    return constant([[float(length), float(width)] for length, width, _ in rows]), tuple(row[2] for row in rows)
