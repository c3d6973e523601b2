"""Pictures of few colours as PNG, which every browser shows."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


def data_uri(index: npt.NDArray[np.int64], colours: Sequence[str]) -> str:
    """An image (rows, columns) of numbers of colours, the top row first, as a PNG within an address; what is below zero
    is transparent."""
    return "data:image/png;base64," + base64.b64encode(png(index, colours)).decode("ascii")


def png(index: npt.NDArray[np.int64], colours: Sequence[str]) -> bytes:
    """The same as the bytes of a file. There are 255 colours at most."""
    rows, columns = index.shape
    # Colour 0 is none.
    palette = bytes(3) + b"".join(bytes.fromhex(colour[1:]) for colour in colours)
    pixels = np.zeros((rows, columns + 1), dtype=np.uint8)  # each row begins with the number of its filter: none
    pixels[:, 1:] = np.maximum(index, -1) + 1
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8, 3, 0, 0, 0)),
        (b"PLTE", palette),
        (b"tRNS", b"\x00"),
        (b"IDAT", zlib.compress(pixels.tobytes(), 9)),
        (b"IEND", b""),
    )
    chunks = (struct.pack(">I", len(b)) + n + b + struct.pack(">I", zlib.crc32(n + b)) for n, b in parts)
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)
