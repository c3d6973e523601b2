"""Atlas: everything known about the cells of one network on one domain.

The index contract. An atlas has `len(atlas)` cells, numbered from 0 in an order that depends on the network and the
domain only. Parallel arrays, all read-only for good (`_base/read_only.py`):

    patterns     (cells, bytes) uint8  gate g is bit g % 8 (lowest first) of byte g // 8: 1 where it is on
    witnesses    (cells, d) float64    a point inside each cell, in the domain's parameters
    bounded      (cells,) bool
    facet_start  (cells + 1,) int64    the facets of cell i are facet_start[i] .. facet_start[i + 1] - 1
    facet_wall   (facets,) int32       the wall a facet lies on: gate g is wall g, domain row r is wall gates + r
    neighbour    (facets,) int32       the cell across; -1 at the domain's boundary, -2 where the engine did not get to
    shared_facet (shared,) int64       where a facet lies on more walls than one: the facet, ascending ...
    shared_wall  (shared,) int32       ... and a further wall

An inner facet is listed twice, once by each of its cells, with the same walls. A gate is a wall of a facet if it
vanishes on the facet but not on both cells: it may switch there, or only touch zero and come back. A witness for
which no float64 point inside was proved is kept as rationals in `exact_witnesses`.

With `cells_of` "function" a max-pool is one switch of k ways: of its matches those between losers are idle, and off in
patterns. A facet between two winners lies on the gate of the match in which they meet; there may be several such facets
of one gate, since whom a winner meets there depends on what lies behind.

The certificate belongs to these arrays. An atlas that is made with other ones (`dataclasses.replace`, or by hand) keeps
nothing of a certificate but "counted", with a failed check that says why; `pf.certify` then proves what is there. A
copy, and what comes out of a pickle, is made anew and looked over like any other.

An atlas is a Result: its evidence, and whether it is complete, what stopped it and how long it took, are those of its
certificate. As a truth value it says whether it has any cell, as a list does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import cached_property
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from flint import fmpq

from polyfold._base.as_found import first_hand
from polyfold._base.chunks import in_chunks
from polyfold._base.evidence import Evidence
from polyfold._base.inputs import one_of
from polyfold._base.notebook import html_table
from polyfold._base.read_only import for_good
from polyfold._base.result import Result
from polyfold._base.types import Array, Flags, Ids, Signs
from polyfold._base.when_read import replaced, waiting
from polyfold.atlas.cell import Cell
from polyfold.atlas.certificate import Certificate, believed, sealed, unclaimed, what_is_spoken_of
from polyfold.atlas.core_problem import beyond_core
from polyfold.atlas.digest import ARRAYS, SharedArrays
from polyfold.atlas.geometry import chebyshev
from polyfold.atlas.geometry import locate as location
from polyfold.atlas.geometry.flat_cells import (
    count_flat_faces,
    flat_covariances,
    flat_generators,
    flat_measures,
    made_from_facets,
)
from polyfold.atlas.geometry.generators import Generators, Measures, count_faces, find_generators, find_measures
from polyfold.atlas.geometry.halfspaces import Halfspaces, halfspaces
from polyfold.atlas.patterns import PatternIndex, unpack
from polyfold.domain.domain import Domain
from polyfold.domain.points import parameter_rows
from polyfold.errors import DomainError, PolyfoldError, ShapeError, how_many
from polyfold.exact.rational import rational
from polyfold.network.head import behind, head_json
from polyfold.program.passes.jets import has_short_map_jets, parameter_maps
from polyfold.program.passes.pulled_back import output_forms
from polyfold.program.passes.single_gates import ExactGates
from polyfold.program.program import Program

if TYPE_CHECKING:
    import pandas

DOMAIN_BOUNDARY = -1
UNEXPLORED = -2


@dataclass(frozen=True, eq=False, repr=False)
class Atlas(Result):
    """The cells of `program` on `domain`. See the module's text for what the arrays mean."""

    program: Program
    domain: Domain
    patterns: npt.NDArray[np.uint8]
    witnesses: Array
    bounded: Flags
    facet_start: Ids
    facet_wall: npt.NDArray[np.int32]
    neighbour: npt.NDArray[np.int32]
    shared_facet: Ids
    shared_wall: npt.NDArray[np.int32]
    certificate: Certificate
    exact_witnesses: Mapping[int, tuple[Fraction, ...]] = field(default_factory=dict)
    cells_of: Literal["gates", "function"] = "gates"

    # With all atlases that differ in their certificates only.
    _shared: ClassVar[SharedArrays]

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Domain):
            raise DomainError(
                f"an atlas's domain must be one for its {how_many(self.program.input_dim, 'input')}, not "
                f"{self.domain!r}: pf.unfold makes one of it"
            )
        cells, facets = len(self.patterns), len(self.facet_wall)
        expected = {
            "patterns": (cells, (self.program.gates + 7) // 8),
            "witnesses": (cells, self.domain.dim),
            "bounded": (cells,),
            "facet_start": (cells + 1,),
            "neighbour": (facets,),
            "shared_wall": self.shared_facet.shape,
        }
        for name, shape in expected.items():
            if getattr(self, name).shape != shape:
                raise ShapeError(f"an atlas's {name} must have shape {shape}, not {getattr(self, name).shape}")
        start, shared = self.facet_start, self.shared_facet
        if start[0] != 0 or start[-1] != facets or (np.diff(start) < 0).any():
            raise ShapeError(f"an atlas's facet_start must grow from 0 to the {facets} facets")
        if len(shared) and (shared[0] < 0 or shared[-1] >= facets or (np.diff(shared) < 0).any()):
            raise ShapeError(f"an atlas's shared_facet must be ascending numbers of the {facets} facets")
        for name in ARRAYS:
            object.__setattr__(self, name, for_good(getattr(self, name)))
        object.__setattr__(self, "exact_witnesses", MappingProxyType(dict(self.exact_witnesses)))
        object.__setattr__(self, "_shared", SharedArrays(self, self.certificate.threads))
        object.__setattr__(self, "certificate", self._believed(self.certificate))

    def __reduce__(self) -> tuple[Any, ...]:
        # Not as it lies in memory: digests that were remembered must not outlive the arrays, which a pickle or a deep
        # copy would leave open to be written to.
        values = (getattr(self, each.name) for each in fields(self))
        return type(self), tuple(dict(value) if isinstance(value, MappingProxyType) else value for value in values)

    # -- what it is

    def __len__(self) -> int:
        return len(self.patterns)

    def __getitem__(self, cell: int) -> Cell:
        return Cell(self, self._number(cell))

    def __iter__(self) -> Iterator[Cell]:
        return (Cell(self, i) for i in range(len(self)))

    def __repr__(self) -> str:
        none_yet = self.certificate.none_found and not len(self)
        cells = "none yet of at least 1 cell" if none_yet else how_many(len(self), "cell")
        return (
            f"Atlas: {cells}"
            f"{' of the function' * self.of_function} of a network with "
            f"{how_many(self.gates, 'gate')} on {self.domain.describe()}; {self.certificate}"
        )

    def __bool__(self) -> bool:
        return len(self) > 0

    def _repr_html_(self) -> str:
        return html_table(self.in_words())

    @property
    def dim(self) -> int:
        """d: the dimension of the domain."""
        return self.domain.dim

    @property
    def gates(self) -> int:
        return self.program.gates

    @property
    def of_function(self) -> bool:
        """Whether pools are one switch of k ways, so that its cells are those of the function and not of all gates."""
        return self.cells_of == "function"

    @property
    def by_facets(self) -> bool:
        """Whether cells are measured by their facets: on lines and planes, where the core would find others."""
        return self.of_function or beyond_core(self.program, self.domain)

    def as_listed(self, signs: Signs) -> Signs:
        """Patterns of points as this atlas lists them: where its cells are the function's, idle gates are off."""
        return self.program.pools.with_idle_off(signs) if self.of_function else signs

    @property
    def outputs(self) -> int:
        return self.program.output_dim

    @property
    def complete(self) -> bool:
        """Whether the engine reached its end, or a proof says so: no cell is missing."""
        return self.certificate.complete

    @property
    def stopped_by(self) -> str | None:
        """What stopped the engine: "max_cells", "max_seconds", "interrupt" ...; None if nothing did."""
        return self.certificate.stopped_by

    @property
    def seconds(self) -> float:
        """How long the engine took to find the cells, over all runs that were resumed."""
        return self.certificate.seconds

    @property
    def evidence(self) -> Evidence:
        """What its certificate says, with the domain."""
        said = self.certificate.evidence
        return first_hand(replaced(said, of=what_is_spoken_of(self.program), domain=self.domain))

    @property
    def hearsay(self) -> str:
        return self.certificate.hearsay

    @property
    def inner_facets(self) -> int:
        """How many facets lie between two cells, each counted once."""
        return int((self.neighbour >= 0).sum()) // 2

    @property
    def boundary_facets(self) -> int:
        """How many facets lie on the domain's boundary."""
        return int((self.neighbour == DOMAIN_BOUNDARY).sum())

    def facts(self) -> dict[str, Any]:
        """Its size, its digests and its certificate; the cells themselves are for `save` and `to_pandas`."""
        return {
            "cells": len(self),
            "bounded_cells": int(self.bounded.sum()),
            "inner_facets": self.inner_facets,
            "boundary_facets": self.boundary_facets,
            "cells_of": self.cells_of,
            "gates": self.gates,
            "inputs": self.program.input_dim,
            "outputs": self.outputs,
            "head": head_json(self.program.head),
            "domain": self.domain.describe(),
            "network_digest": self.program.digest,
            "domain_digest": self.domain.digest,
            "arrays_digest": self.arrays_digest,
            "certificate": self.certificate,
        }

    def in_words(self) -> dict[str, str]:
        """The atlas in a few words, for people."""
        return {
            "cells": f"{len(self):,} ({int(self.bounded.sum()):,} bounded)" + ", of the function" * self.of_function,
            "facets": f"{self.inner_facets:,} between cells, {self.boundary_facets:,} on the domain's boundary",
            "gates": f"{self.gates:,} in {how_many(len(self.program.stages), 'stage')}",
            "inputs, outputs": f"{self.program.input_dim}, {self.outputs}{behind(self.program.head)}",
            "domain": self.domain.describe(),
            "certificate": str(self.certificate),
        }

    # -- patterns and facets

    def ids(self, cells: Any = None) -> Ids:
        """Cell ids as an array: None is all of them."""
        if cells is None:
            return np.arange(len(self))
        ids = np.atleast_1d(np.asarray(cells))
        if ids.dtype == bool and ids.shape == (len(self),):
            return np.flatnonzero(ids)
        if ids.size == 0:
            return np.zeros(0, dtype=np.int64)
        if ids.ndim != 1 or not np.issubdtype(ids.dtype, np.integer):
            raise ShapeError(f"cell ids are a list of integers; this is an array of {ids.dtype} of shape {ids.shape}")
        if ids.min() < 0 or ids.max() >= len(self):
            bad = int(ids[(ids < 0) | (ids >= len(self))][0])
            raise IndexError(f"there is no cell {bad}: the atlas has {len(self)}")
        return ids.astype(np.int64)

    def signs(self, cells: Any = None) -> Signs:
        """Patterns as a boolean matrix (cells, gates)."""
        return unpack(self.patterns[self.ids(cells)], self.gates)

    def facets(self, cell: int) -> range:
        """The facet numbers of a cell."""
        cell = self._number(cell)
        return range(int(self.facet_start[cell]), int(self.facet_start[cell + 1]))

    def walls(self, facet: int) -> tuple[int, ...]:
        """Every wall that a facet lies on, its first one in front."""
        facet = one_of(facet, len(self.facet_wall), "facet", "the atlas")
        first, last = np.searchsorted(self.shared_facet, [facet, facet + 1])
        return (int(self.facet_wall[facet]), *self.shared_wall[first:last].tolist())

    @cached_property
    def facet_owner(self) -> Ids:
        """The cell that lists each facet."""
        return np.repeat(np.arange(len(self)), np.diff(self.facet_start))

    @cached_property
    def index(self) -> PatternIndex:
        """From patterns to cells."""
        return PatternIndex(self.patterns)

    @cached_property
    def exact_gates(self) -> ExactGates:
        """Single gates over the parameters in rationals, where floats cannot tell; what was found is kept."""
        return ExactGates(self.program, self.domain)

    # -- geometry, on demand

    def maps(self, cells: Any = None, *, over: Literal["inputs", "parameters"] = "inputs") -> tuple[Array, Array]:
        """The affine maps of cells: A (n, m, inputs) and c (n, m) with f(x) = A x + c there.

        With over="parameters" they are functions of the domain's parameters u instead, which differ from x on a slice.
        A number that is infinite lies beyond float64: no product on the way makes one infinite, or zero, that is not.
        """
        if over not in ("inputs", "parameters"):
            raise PolyfoldError(f"over must be 'inputs' or 'parameters', got {over!r}")
        ids = self.ids(cells)
        short = has_short_map_jets(self.program, self.domain) or not self._plain_products
        if short and (over == "parameters" or not self.domain.is_slice):
            distinct, items = np.unique(ids, return_inverse=True)
            A, c = parameter_maps(self.program, self.domain, self.signs(distinct))
            return A[items], c[items]
        A, c = np.empty((len(ids), self.outputs, self.program.input_dim)), np.empty((len(ids), self.outputs))

        def fill(part: slice) -> None:
            A[part], c[part] = output_forms(self.program, self.signs(ids[part]))

        width = max([self.program.input_dim, *(stage.width for stage in self.program.stages)])
        in_chunks(len(ids), 4 * self.outputs * width + self.gates, fill)
        if over == "parameters" and self.domain.is_slice:
            return A @ self.domain.basis, c + A @ self.domain.origin
        return A, c

    @property
    def _plain_products(self) -> bool:
        """Whether maps over the inputs can be carried to the parameters by a product of floats."""
        return not self.domain.is_slice or self.program.number_range.holds()

    def locate(self, points: Any, *, outside: Literal["error", "ignore"] = "error") -> Ids:
        """The cell of every row of `points` (in the domain's parameters), decided exactly.

        A point on walls gets the first of the cells that touch it, in the order of gates, off before on. That is the
        cell of its own pattern, gates that are zero being off, as `pf.local` has it, wherever this is a cell. In an
        incomplete atlas it is the first one that is there. A point outside the domain raises DomainError, or gets -1
        with outside="ignore"; so does a point in a part that an incomplete atlas does not cover.
        """
        return location.locate(self, points, outside)

    def lift(self, points: Any) -> Array:
        """Input points (n, inputs) of points (n, d) in the domain's parameters; the same points unless on a slice.

        >>> import polyfold as pf
        >>> line = pf.unfold([([[1.0, -1.0]], [0.0]), ([[1.0]], [0.0])], pf.line([0, 0], [2, 4]))
        >>> line.lift([[0.0], [0.5]]).tolist()
        [[0.0, 0.0], [1.0, 2.0]]
        """
        return self.domain.lift(parameter_rows(self.domain, points))

    def generators(self, cells: Any = None) -> Generators:
        """Vertices, rays and lines of cells, with the facets that they lie on."""
        distinct, items = self._distinct(cells)
        if self.by_facets:
            found = flat_generators(self, distinct)
        else:
            found = find_generators(self.program, self.domain, self.patterns[distinct], self.certificate.threads)
        return found if items is None else found.take(items)

    def _distinct(self, cells: Any) -> tuple[Ids, Ids | None]:
        """Cell ids, ascending and each once, and which of them the cells are; None where they are just these."""
        ids = self.ids(cells)
        if (ids[1:] > ids[:-1]).all():
            return ids, None
        distinct, items = np.unique(ids, return_inverse=True)
        return distinct, items

    @cached_property
    def all_flat_generators(self) -> Generators:
        """The vertices of all cells of a line or plane that the core does not take."""
        return made_from_facets(self, self.ids())

    def vertices(self, cells: Any = None) -> list[Array]:
        """The vertices of cells, one array (vertices, d) each; an unbounded cell has fewer than it has corners."""
        return self.generators(cells).each_vertices()

    def volumes(self, cells: Any = None) -> Array:
        """Volumes of cells in the domain's parameters; infinite where unbounded."""
        return self.measures(cells)[0]

    def centroids(self, cells: Any = None) -> Array:
        """Centres of mass of cells; NaN where unbounded."""
        return self.measures(cells)[1]

    def covariances(self, cells: Any = None) -> Array:
        """Covariances (n, d, d) of the uniform distributions on cells; NaN where unbounded."""
        return self.moments(cells)[2]

    def moments(self, cells: Any = None) -> tuple[Array, Array, Array]:
        """Volumes, centroids and covariances of cells, found together."""
        distinct, items = self._distinct(cells)
        if self.by_facets:
            found = (*flat_measures(self, distinct), flat_covariances(self, distinct))
        else:
            measured = self._measured(distinct, covariance=True)
            found = (measured.volumes, measured.centroids, measured.covariances)
        return found if items is None else (found[0][items], found[1][items], found[2][items])

    def bounding_boxes(self, cells: Any = None) -> tuple[Array, Array]:
        """Smallest boxes lo <= u <= hi around cells; infinite where unbounded."""
        return self.generators(cells).bounding_boxes()

    def chebyshev(self, cells: Any = None) -> tuple[Array, Array]:
        """Centres and radii of the largest balls in cells; radius infinity and centre NaN where there is no largest."""
        ids = self.ids(cells)
        rows = self.halfspaces(ids)
        return chebyshev.chebyshev_balls(
            rows.start, rows.A, rows.b, self.witnesses[ids], threads=self.certificate.threads
        )

    def halfspaces(self, cells: Any = None, *, minimal: bool = True) -> Halfspaces:
        """Cells as A u <= b: one row per facet, or with minimal=False one row for every gate and domain row."""
        return halfspaces(self, self.ids(cells), minimal)

    def rational_witness(self, cell: int) -> tuple[fmpq, ...]:
        """A cell's witness as exact numbers."""
        cell = self._number(cell)
        exact = self.exact_witnesses.get(cell)
        if exact is not None:
            return tuple(fmpq(x.numerator, x.denominator) for x in exact)
        return tuple(rational(x) for x in self.witnesses[cell].tolist())

    def _number(self, cell: int) -> int:
        return one_of(cell, len(self), "cell", "the atlas")

    def f_vector(self) -> tuple[int, ...]:
        """Numbers of faces of dimension 0, 1, ..., d of the whole complex, each counted once.

        Unbounded faces count, faces at infinity do not. Each cell's faces are listed: about 3^d per cell.
        """
        return self._f_vector

    def euler_characteristic(self) -> int:
        """The alternating sum of the f-vector: 1 on a bounded domain, (-1)^d on all of R^d."""
        return sum((-1) ** k * count for k, count in enumerate(self._f_vector))

    @cached_property
    def _f_vector(self) -> tuple[int, ...]:
        if not self.complete:
            raise PolyfoldError(f"faces can be counted of all cells only, and {self.certificate.how_to_complete}")
        if self.by_facets:
            return count_flat_faces(self)
        return count_faces(self.program, self.domain, self.certificate.threads)

    def measures(self, cells: Any = None) -> tuple[Array, Array]:
        """Volumes and centroids of cells, found together."""
        distinct, items = self._distinct(cells)
        if self.by_facets:
            volumes, centroids = flat_measures(self, distinct)
        elif len(distinct) == len(self) or "_all_measures" in self.__dict__:
            known = self._all_measures
            volumes, centroids = known.volumes[distinct], known.centroids[distinct]
        else:
            found = self._measured(distinct)
            volumes, centroids = found.volumes, found.centroids
        return (volumes, centroids) if items is None else (volumes[items], centroids[items])

    @cached_property
    def _all_measures(self) -> Measures:
        """What all cells measure, kept for the questions that ask for it: one walk feeds them all."""
        return self._measured(self.ids())

    def _measured(self, distinct: Ids, covariance: bool = False) -> Measures:
        threads, patterns = self.certificate.threads, self.patterns[distinct]
        return find_measures(self.program, self.domain, patterns, threads, covariance=covariance)

    # -- elsewhere

    @cached_property
    def arrays_digest(self) -> str:
        """SHA-256 over all arrays of the atlas, as they were when it was made."""
        return self._shared.digest()

    def with_certificate(self, certificate: Certificate) -> Atlas:
        """The same atlas with more known about it: what `pf.check` or `pf.certify` found of these very arrays.

        A certificate of other arrays, or one that nobody vouches for, leaves the level "counted".
        """
        other = object.__new__(Atlas)
        other.__dict__.update(self.__dict__, certificate=self._believed(certificate))
        return other

    def _believed(self, certificate: Certificate) -> Certificate:
        if not certificate.claims:
            return certificate
        of_these = waiting(certificate, "arrays_digest") is self._shared.digest
        return believed(certificate, self.program.digest, self.domain, lambda: self.arrays_digest, of_these=of_these)

    def to_pandas(self, cells: Any = None) -> pandas.DataFrame:
        """A data frame, one row per cell: pattern, witness, facets, boundedness and, with few coefficients, the map."""
        from polyfold.atlas.table import data_frame

        return data_frame(self, self.ids(cells))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the atlas to one Parquet file, all or nothing. `pf.open(path)` reads it back."""
        from polyfold.atlas.storage import save

        save(self, path)


def atlas_found(program: Program, domain: Domain, certificate: Certificate, fields: Mapping[str, Any]) -> Atlas:
    """An atlas as an engine found it: `fields` are all others of `Atlas`. The certificate is sealed for them."""
    atlas = Atlas(program, domain, certificate=unclaimed(certificate), **fields)
    return vouched(atlas, certificate)


def vouched(atlas: Atlas, certificate: Certificate) -> Atlas:
    """The atlas with a certificate of what was just found out about its arrays."""
    return atlas.with_certificate(sealed(certificate, atlas.program, atlas._shared.digest))
