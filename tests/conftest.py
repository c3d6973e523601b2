"""Hypothesis tries the same examples in every `make test`, so that it says the same to everybody; `make test-all` tries
new ones (HYPOTHESIS_PROFILE=explore)."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("repeat", derandomize=True)
settings.register_profile("explore", derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))
