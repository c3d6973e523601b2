"""What is not tested is said: without ../shared by a line at the end, and under nohup nothing is different."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]

TWO_TESTS = """
import os, signal, subprocess, sys
import pytest

@pytest.mark.shared("models")
def test_models(): raise AssertionError("runs without its models")

@pytest.mark.shared
def test_anything(): raise AssertionError("runs without its data")

def test_ctrl_c(interruptible):
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    child = subprocess.run([sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGINT)"])
    assert child.returncode in (-signal.SIGINT, 128 + signal.SIGINT)
"""


def test_a_suite_elsewhere_and_in_the_background(tmp_path: Path) -> None:
    suite = tmp_path / "repository" / "tests"
    (suite / "helpers").mkdir(parents=True)
    for name in ("conftest.py", "helpers/shared_files.py", "helpers/cpu_time.py"):
        shutil.copy(TESTS / name, suite / name)
    (suite / "test_two.py").write_text(TWO_TESTS)
    (suite.parent / "pytest.ini").write_text("[pytest]\npythonpath = tests\nmarkers = shared(*folders): needs them\n")
    command = [sys.executable, "-m", "pytest", "-q", "-ra", "-p", "no:cacheprovider", str(suite)]
    # What nohup and a shell's & do to a program.
    done = subprocess.run(
        ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *command], cwd=suite.parent, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
    assert "1 passed, 2 skipped" in done.stdout
    assert f"NOT TESTED, ../shared is absent: there is no {tmp_path / 'shared' / 'data' / 'models'}" in done.stdout
    assert "NOT TESTED, ../shared is absent: 2 tests were skipped for that" in done.stdout


def test_every_way_to_shared_files_goes_through_the_marker() -> None:
    """A path of its own would be a skip of its own, or a failure where ../shared is absent."""
    for path in TESTS.rglob("*.py"):
        if path.name == "shared_files.py":
            continue
        text = path.read_text()
        assert not re.search(r'/\s"shared"', text), path
        if "from helpers.shared_files import M" in text:
            assert "pytest.mark.shared(" in text, path


def test_interrupts_are_tested_with_a_working_signal() -> None:
    """A test that interrupts this process asks for the fixture; others fail under nohup."""
    for path in TESTS.rglob("test_*.py"):
        for function in re.split(r"\n(?=def test_)", path.read_text()):
            if path != Path(__file__) and re.search(
                r"raise_signal\(signal.SIGINT|getpid\(\), (signal.SIGINT|2)\)", function
            ):
                assert "interruptible" in function.partition(":\n")[0], (path, function[:60])
