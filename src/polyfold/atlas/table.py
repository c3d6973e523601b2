"""An atlas as a data frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from polyfold.atlas.patterns import pattern_texts
from polyfold.errors import PolyfoldError

if TYPE_CHECKING:
    import pandas

    from polyfold.atlas.atlas import Atlas

_MOST_MAP_COLUMNS = 64


def data_frame(atlas: Atlas, ids: npt.NDArray[np.int64]) -> pandas.DataFrame:
    """See `Atlas.to_pandas`."""
    try:
        import pandas
    except ModuleNotFoundError:
        raise PolyfoldError("to_pandas() needs pandas: pip install 'polyfold[store]'") from None
    columns: dict[str, object] = {
        "pattern": pattern_texts(atlas.patterns[ids], atlas.gates),
        "bounded": atlas.bounded[ids],
        "facets": np.diff(atlas.facet_start)[ids],
    }
    columns |= {f"witness_{k}": _coordinate(atlas, ids, k) for k in range(atlas.dim)}
    inputs = atlas.program.input_dim
    if atlas.outputs * (inputs + 1) <= _MOST_MAP_COLUMNS:
        A, c = atlas.maps(ids)
        for j in range(atlas.outputs):
            columns |= {f"A_{j}_{k}": A[:, j, k] for k in range(inputs)}
            columns[f"c_{j}"] = c[:, j]
    # As they are: copied into one array, hundreds of columns of zeros would be gigabytes.
    return pandas.DataFrame(columns, index=pandas.Index(ids, name="cell"), copy=False)


def _coordinate(atlas: Atlas, ids: npt.NDArray[np.int64], k: int) -> npt.NDArray[np.float64]:
    """One coordinate of all witnesses. Zeros that nobody writes take no memory."""
    coordinate = atlas.witnesses[:, k]
    return coordinate[ids] if coordinate.any() else np.zeros(len(ids))
