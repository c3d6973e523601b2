"""Movies out of pixels, written picture by picture: MP4 by ffmpeg, as a program of its own, and GIF by Pillow.

An encoder is a function that takes pictures (height, width, 3) of bytes, one at a time; it is given to a block, and the
file is whole when the block has ended. None keeps more than one picture.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from polyfold._base.extras import require
from polyfold.errors import NetworkError, StorageError

Pixels = npt.NDArray[np.uint8]
Add = Callable[[Pixels], None]

# So many colours has a picture of a GIF, and so many are kept as they are: those that fill areas. Close ones would
# flicker.
_COLOURS, _KEPT = 256, 160
# GIF counts in hundredths of a second, and browsers slow shorter ones down.
_SHORTEST = 2
# How long the last picture of a GIF stays before it starts again, in hundredths of a second.
_PAUSE = 150


def ffmpeg_program() -> str:
    """The ffmpeg on the PATH, or the one that comes with the package imageio-ffmpeg."""
    found = shutil.which("ffmpeg")
    if found:
        return found
    try:
        program: str = require("imageio_ffmpeg", extra="movie", purpose="an MP4 movie").get_ffmpeg_exe()
    except (NetworkError, RuntimeError) as error:
        raise NetworkError(
            f"an MP4 movie needs the program ffmpeg, and there is none ({error}); .gif and .html movies need none"
        ) from None
    return program


@contextmanager
def mp4(path: Path, fps: float, program: str) -> Iterator[Add]:
    """H.264 in MP4, with colours as browsers play them; sides of pictures must be even."""
    with tempfile.TemporaryFile() as said:
        running: subprocess.Popen[bytes] | None = None

        def add(picture: Pixels) -> None:
            nonlocal running
            if running is None:
                height, width = picture.shape[:2]
                running = _started(_command(program, width, height, fps, path), said)
            try:
                _pipe(running).write(np.ascontiguousarray(picture).tobytes())
            except BrokenPipeError:
                running.wait()
                raise _failed(said) from None

        try:
            yield add
            if running is not None:
                with suppress(BrokenPipeError):
                    _pipe(running).close()
                if running.wait():
                    raise _failed(said)
        finally:
            if running is not None:
                running.kill()
                running.wait()
                # What it did not take any more cannot be written.
                with suppress(OSError):
                    _pipe(running).close()


def _started(command: list[str], said: IO[bytes]) -> subprocess.Popen[bytes]:
    """In a session of its own, so that Ctrl-C reaches us alone, and we end it."""
    pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
    try:
        return subprocess.Popen(command, stdin=pipe, stdout=nowhere, stderr=said, start_new_session=True)
    except OSError as error:
        raise StorageError(f"the program {command[0]!r} cannot be run: {error.strerror}") from None


def _pipe(running: subprocess.Popen[bytes]) -> IO[bytes]:
    assert running.stdin is not None
    return running.stdin


def _command(program: str, width: int, height: int, fps: float, path: Path) -> list[str]:
    given = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", f"{fps:g}", "-i", "-"]
    wanted = ["-an", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "18", "-movflags", "+faststart"]
    return [program, "-loglevel", "error", "-y", *given, *wanted, "-f", "mp4", str(path)]


def _failed(said: IO[bytes]) -> StorageError:
    said.seek(0)
    lines = said.read().decode(errors="replace").strip().splitlines()
    return StorageError(f"ffmpeg failed: {lines[-1] if lines else 'it gave no reason'}")


@contextmanager
def gif(path: Path, fps: float, pictures: int) -> Iterator[Add]:
    """A GIF that starts again at its end. Each picture has 256 colours of its own, and those of areas are kept."""
    image, plugin = (require(f"PIL.{name}", extra="plot", purpose="a GIF") for name in ("Image", "GifImagePlugin"))
    written = 0
    with path.open("wb") as file:

        def add(picture: Pixels) -> None:
            nonlocal written
            frame = _with_palette(image, picture)
            if not written:
                for block in plugin.getheader(frame, info={"loop": 0})[0]:
                    file.write(block)
            written += 1
            hundredths = max(_SHORTEST, round(100 / fps)) if written < pictures else _PAUSE
            for block in plugin.getdata(frame, duration=10 * hundredths, include_color_table=True):
                file.write(block)

        yield add
        file.write(b";")


def _with_palette(image: Any, picture: Pixels) -> Any:
    """The picture with 256 colours: the most frequent ones as they are, the others near ones of their own."""
    red, green, blue = np.moveaxis(picture.astype(np.int64), 2, 0)
    packed, number, count = np.unique(red << 16 | green << 8 | blue, return_inverse=True, return_counts=True)
    colours = np.stack([packed >> 16, packed >> 8 & 255, packed & 255], axis=1)
    palette, place = colours, np.arange(len(colours))
    if len(colours) > _COLOURS:
        frequent = np.argsort(-count, kind="stable")
        rest = image.fromarray(colours[frequent[_KEPT:]][None].astype(np.uint8))
        few = rest.quantize(_COLOURS - _KEPT, method=image.Quantize.MAXCOVERAGE).getpalette()
        palette = np.concatenate([colours[frequent[:_KEPT]], np.reshape(few, (-1, 3))[: _COLOURS - _KEPT]])
        # |a - b|^2 without |a|^2, which is the same for all b.
        place = ((palette**2).sum(axis=1) - 2 * colours @ palette.T).argmin(axis=1)
    frame = image.fromarray(place[number].reshape(picture.shape[:2]).astype(np.uint8))
    frame.putpalette(palette.astype(np.uint8).tobytes())
    return frame
