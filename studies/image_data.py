"""Pictures of handwritten digits for studies: MNIST from its four files, or the small digits of scikit-learn."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from polyfold._base.extras import require
from polyfold.errors import StorageError

Array = npt.NDArray[np.float32]
Labels = npt.NDArray[np.int64]

# The first bytes of MNIST's files: unsigned bytes in three axes, or in one.
_PICTURES, _LABELS = 2051, 2049
# Mean and standard deviation of the training pictures' pixels, between 0 and 1.
_MNIST_PIXELS = (0.1307, 0.3081)
_DIGITS_PIXELS = (0.3053, 0.3760)
# Of the 1,797 small digits so many are kept for testing.
_TEST_DIGITS = 360


@dataclass(frozen=True, eq=False)
class Pictures:
    """Training and test pictures (n, 1, side, side) and their digits.

    Pixels are standardised: all of them together have about mean zero and variance one among the training pictures.
    """

    name: str
    train: Array
    train_labels: Labels
    test: Array
    test_labels: Labels

    @property
    def side(self) -> int:
        return int(self.train.shape[-1])

    @cached_property
    def digest(self) -> str:
        """Names the data: what was made of others is not mixed with what was made of these."""
        hasher = hashlib.sha256()
        for part in (self.train, self.train_labels, self.test, self.test_labels):
            hasher.update(f"{part.shape}".encode() + np.ascontiguousarray(part).tobytes())
        return hasher.hexdigest()


def pictures(where: Path | None) -> Pictures:
    """MNIST from a folder with its four files; without one, the small digits."""
    return _digits() if where is None else _mnist(where)


def _mnist(folder: Path) -> Pictures:
    parts = [
        _idx(folder / f"{kind}-{what}-idx{axes}-ubyte.gz", magic)
        for kind in ("train", "t10k")
        for what, axes, magic in (("images", 3, _PICTURES), ("labels", 1, _LABELS))
    ]
    train, train_labels, test, test_labels = parts
    X, tests = (_standard(pixels, 255, _MNIST_PIXELS) for pixels in (train, test))
    return Pictures("MNIST", X, train_labels.astype(np.int64), tests, test_labels.astype(np.int64))


def _idx(path: Path, magic: int) -> npt.NDArray[np.uint8]:
    """An array of MNIST's format: a magic number, one length an axis, then bytes."""
    try:
        with gzip.open(path) as file:
            content = file.read()
    except (OSError, EOFError) as error:
        raise StorageError(f"{str(path)!r} cannot be read as a file of MNIST: {error}") from error
    axes = magic % 256
    head = np.frombuffer(content[: 4 * (1 + axes)], dtype=">i4")
    shape = tuple(int(n) for n in head[1:])
    if len(head) != 1 + axes or head[0] != magic or len(content) != 4 * (1 + axes) + int(np.prod(shape)):
        raise StorageError(f"{str(path)!r} is no file of MNIST with {axes} axes: download it again")
    return np.frombuffer(content, dtype=np.uint8, offset=4 * (1 + axes)).reshape(shape)


def _digits() -> Pictures:
    found = require("sklearn.datasets", extra="sklearn", purpose="reading the small digits").load_digits()
    # Neighbours in the file have the same writer: the split is by chance.
    order = np.random.default_rng(0).permutation(len(found.images))
    images, labels = _standard(found.images[order], 16, _DIGITS_PIXELS), found.target[order].astype(np.int64)
    rest = len(images) - _TEST_DIGITS
    return Pictures("digits", images[:rest], labels[:rest], images[rest:], labels[rest:])


def _standard(pixels: npt.NDArray[np.generic], white: int, moments: tuple[float, float]) -> Array:
    mean, deviation = (np.float32(number) for number in moments)
    scaled = pixels[:, None].astype(np.float32) / np.float32(white)
    return np.asarray((scaled - mean) / deviation, dtype=np.float32)
