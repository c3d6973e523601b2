"""The process that does the work: `python -m polyfold.explorer.worker`.

It reads tasks from standard input, one JSON object a line, and answers in the same way on standard output. It may be
ended at any time, and gets only so much memory; what a task produces goes to a folder that the server names. So no
network, however large or odd, can hold the server up.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TextIO

from polyfold.errors import PolyfoldError
from polyfold.explorer import tasks

# A worker that has grown beyond this is replaced by a new one: memory that was once used is seldom given back.
_GROWN = 600_000_000
# How C++ and Python say that a thread has no room for its stack.
_NO_ROOM_FOR_THREADS = ("Resource temporarily unavailable", "can't start new thread")
Send = Callable[[dict[str, Any]], None]


def main() -> None:
    """Work until standard input ends."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8", buffering=1)
    # Whatever a package prints must not come between the answers.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    waiting: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin, waiting), daemon=True).start()
    # What every job needs is there before memory is counted.
    with suppress(ImportError):
        import pyarrow.parquet  # noqa: F401
    limited = False

    def send(message: dict[str, Any]) -> None:
        answers.write(json.dumps(message, allow_nan=False, separators=(",", ":")) + "\n")
        answers.flush()

    while True:
        task = waiting.get()
        if not limited:
            _limit_memory(int(task["memory"]))
            limited = True
        grown = _run(task, send) or _memory_used() > _GROWN
        send({"ended": True, "leaving": grown})
        if grown:
            return


def _listen(lines: TextIO, waiting: queue.SimpleQueue[dict[str, Any]]) -> None:
    """Tasks as they come. When there is nobody left to send any, the process ends, also in the middle of a task."""
    for line in lines:
        waiting.put(json.loads(line))
    os._exit(0)


def _run(task: dict[str, Any], send: Send) -> bool:
    """Do one task; whether the process should not be used any more."""
    try:
        tasks.TASKS[task["kind"]](task, send)
    except (PolyfoldError, OverflowError) as error:
        send({"failed": " ".join(str(error).split())})
    except Exception as error:
        if isinstance(error, MemoryError) or any(words in str(error) for words in _NO_ROOM_FOR_THREADS):
            amount = int(task["memory"]) / 1e9
            send({"limit": f"this needs more than the {amount:g} GB of memory of a job: choose a smaller domain"})
        else:
            send({"failed": f"a fault of polyfold's, please report it: {type(error).__name__}: {error}"})
        return True
    return False


def _limit_memory(more: int) -> None:
    """So many bytes on top of what the process has now."""
    try:
        import resource

        with open("/proc/self/statm", encoding="ascii") as file:
            now = int(file.read().split()[0]) * resource.getpagesize()
    except (ImportError, OSError):
        return  # no such limit on this system; time and cells are limited everywhere
    resource.setrlimit(resource.RLIMIT_AS, (now + more, now + more))


def _memory_used() -> int:
    """Bytes in memory now; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


if __name__ == "__main__":
    main()
