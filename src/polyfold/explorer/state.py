"""Everything that a running explorer holds."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from polyfold.datasets.named import BUNDLED
from polyfold.errors import PolyfoldError
from polyfold.explorer.answers import Shelf
from polyfold.explorer.limits import Limits
from polyfold.explorer.networks import Source, facts, open_network
from polyfold.explorer.pool import Pool
from polyfold.explorer.sessions import Known, Session, Sessions


@dataclass(frozen=True, eq=False)
class State:
    """Limits, workers, sessions, and the networks that everybody may look at, by their ids."""

    limits: Limits
    pool: Pool
    sessions: Sessions
    shelf: Shelf
    networks: dict[str, Known]
    folder: Any
    # Held while a table is written.
    exporting: asyncio.Lock = field(default_factory=asyncio.Lock)

    def find(self, session: Session, key: Any) -> Known:
        """A network that a session may look at."""
        found = session.networks.get(key) or self.networks.get(key) if isinstance(key, str) else None
        if found is None:
            raise PolyfoldError(f"there is no network {key!r}: it may have been uploaded in another session")
        return found

    def close(self) -> None:
        """End the workers and remove all files."""
        self.pool.close()
        self.sessions.close()
        self.folder.cleanup()


def start(given: str | None, limits: Limits) -> State:
    """Start the workers; raises one of our errors if the model that was given cannot be read."""
    networks = {} if given is None else {"given": given_network(given)}
    for name in BUNDLED:
        if name != given:
            networks[name] = Known(name, name, "bundled", Source(bundled=name), facts(open_network(Source(name))))
    folder = tempfile.TemporaryDirectory(prefix="polyfold-explorer-")
    pool = Pool(limits)
    sessions = Sessions(Path(folder.name), limits, pool)
    return State(limits, pool, sessions, Shelf(limits.opened), networks, folder)


def given_network(model: str) -> Known:
    """The network that the command line names: a bundled one or a file."""
    bundled = model in BUNDLED and not Path(model).exists()
    source = Source(bundled=model) if bundled else Source(file=model)
    return Known("given", Path(model).name, "given", source, facts(open_network(source)))
