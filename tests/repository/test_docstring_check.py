"""tools/check_docstrings.py: numpydoc finds faults in docstrings of questions, and this tree has none."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("numpydoc")
ROOT = Path(__file__).parents[2]


def load_tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_docstrings", ROOT / "tools" / "check_docstrings.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tool = load_tool()


def documented(first: int, second: int = 2) -> int:
    """Add two numbers.

    Parameters
    ----------
    first : int
        One of them.
    second : int
        The other one.

    Returns
    -------
    int
        Their sum.

    Examples
    --------
    >>> 1 + 2
    3
    """
    return first + second


def test_the_questions_of_this_tree_pass() -> None:
    asked = tool.questions()
    assert "stats.lipschitz" in asked
    assert [fault for name, function in asked.items() for fault in tool.faults(name, function)] == []


def test_what_is_documented_passes() -> None:
    assert list(tool.faults("documented", documented)) == []


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ("    second : int\n        The other one.\n", "", "PR01"),
        ("second : int", "third : int", "PR02"),
        ("second : int", "second: int", "PR10"),
        ("second : int", "second", "PR04"),
        ("        The other one.\n", "", "PR07"),
        ("The other one.", "The other one", "PR09"),
        ("    Returns\n    -------\n    int\n        Their sum.\n", "", "RT01"),
        ("    Examples\n    --------\n    >>> 1 + 2\n    3\n", "", "EX01"),
        ("Add two numbers.", "add two numbers.", "SS02"),
        ("Add two numbers.", "Add two\n    numbers.", "SS06"),
    ],
)
def test_a_fault_is_found(before: str, after: str, code: str) -> None:
    def function(first: int, second: int = 2) -> int:
        return first + second

    assert documented.__doc__ and before in documented.__doc__
    function.__doc__ = documented.__doc__.replace(before, after)
    assert code in " ".join(tool.faults("function", function))
