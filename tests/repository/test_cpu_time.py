"""A program that serves many tests counts for none of them."""

from __future__ import annotations

import subprocess
import sys

from helpers.cpu_time import cpu_seconds, for_many_tests

BUSY = "import time\nwhile time.process_time() < 0.3: pass"


def test_what_serves_many_tests_counts_for_none() -> None:
    before = cpu_seconds()
    subprocess.run([sys.executable, "-c", BUSY], check=True)
    own = cpu_seconds() - before
    with for_many_tests():
        subprocess.run([sys.executable, "-c", BUSY], check=True)
    assert own > 0.2  # of 0.3, counted in hundredths
    assert cpu_seconds() - before - own < 0.25  # less than the 0.3 of the second one
