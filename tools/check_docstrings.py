"""Let numpydoc validate the docstrings of all public questions.

    python tools/check_docstrings.py

A question is a public function that carries the decorator of `polyfold._base.question`. CHECKS are those of numpydoc's
that say something about content; those about style (where quotes stand, whether a summary begins with a verb) are left
out. Prints one line for each fault and exits with 1 if there are any.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from numpydoc.docscrape import get_doc_object
from numpydoc.validate import validate

ROOT = Path(__file__).parents[1]
CHECKS = {
    "GL03",  # blank lines
    "GL05",  # tabs
    "GL06",  # sections that numpydoc does not know
    "GL07",  # their order
    "GL08",  # no docstring
    "GL10",  # directives
    "SS01",  # no summary
    "SS02",  # no capital letter
    "SS03",  # no full stop
    "SS04",  # blanks before it
    "SS06",  # more than one line
    "PR01",  # parameters that are not documented
    "PR02",  # and those that do not exist
    "PR03",  # their order
    "PR04",  # their types
    "PR05",
    "PR06",
    "PR07",  # what they mean
    "PR09",
    "PR10",  # the space before the colon
    "RT01",  # what is returned
    "RT03",
    "RT05",
    "EX01",  # an example
}


def faults(name: str, function: Callable[..., Any]) -> Iterator[str]:
    """What numpydoc has to say about one function."""
    found = validate(get_doc_object(function))
    for code, message in found["errors"]:
        if code in CHECKS:
            yield f"{found['file']}:{found['file_line']}: {name}: {code} {message}"


def questions() -> dict[str, Callable[..., Any]]:
    """All public questions, by name."""
    sys.path.insert(0, str(ROOT / "tests"))
    from helpers.public import public_functions

    return {name: function for name, function in public_functions().items() if hasattr(function, "question")}


def main() -> int:
    """Print faults; 1 if there are any."""
    asked = questions()
    found = [fault for name, function in asked.items() for fault in faults(name, function)]
    for fault in found:
        print(fault)
    if not asked:
        print("there are no questions: is the decorator still called that?")
    return 1 if found or not asked else 0


if __name__ == "__main__":
    sys.exit(main())
