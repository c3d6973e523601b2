"""An atlas whose cells were found and are put together when they are first asked for.

Pairing the facets of a million cells takes a good part of a second. Who interrupts a run wants the prompt back at once.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Any

from polyfold.atlas.atlas import Atlas, vouched
from polyfold.atlas.certificate import Certificate, unclaimed
from polyfold.domain.domain import Domain
from polyfold.program.program import Program


class DeferredAtlas(Atlas):
    """Knows its program, its domain and its certificate; the first look at anything else makes it a plain Atlas."""

    _arrays: Callable[[], dict[str, Any]]
    _lock: Lock

    @classmethod
    def of(
        cls, program: Program, domain: Domain, certificate: Certificate, arrays: Callable[[], dict[str, Any]]
    ) -> DeferredAtlas:
        """An atlas with the other fields of `Atlas` as `arrays()` returns them; if that raises, it is asked again."""
        atlas = object.__new__(cls)
        known = {"program": program, "domain": domain, "certificate": certificate, "_arrays": arrays, "_lock": Lock()}
        for name, value in known.items():
            object.__setattr__(atlas, name, value)
        return atlas

    def _put_together(self) -> None:
        lock = self.__dict__.get("_lock")
        if lock is None:
            return  # another thread was here first
        with lock:
            if "_lock" in self.__dict__:
                found = self.certificate
                Atlas.__init__(self, self.program, self.domain, certificate=unclaimed(found), **self._arrays())
                object.__setattr__(self, "__class__", Atlas)
                object.__delattr__(self, "_arrays")
                object.__delattr__(self, "_lock")
                object.__setattr__(self, "certificate", vouched(self, found).certificate)

    def __reduce__(self) -> tuple[Any, ...]:
        """To be copied or sent elsewhere: as an atlas, since cells can be put together only once."""
        self._put_together()
        return Atlas.__reduce__(self)

    def with_certificate(self, certificate: Certificate) -> Atlas:
        self._put_together()
        return Atlas.with_certificate(self, certificate)

    if not TYPE_CHECKING:  # or any name would seem to be there to a type checker

        def __getattr__(self, name: str) -> Any:
            # Called for what is not there. Of fields, and of what is made of all arrays, that means: not yet.
            if name not in Atlas.__dataclass_fields__ and name != "_shared":
                raise AttributeError(f"{Atlas.__name__!r} object has no attribute {name!r}")
            self._put_together()
            return getattr(self, name)
