"""Types that signatures are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
Ids: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]
# The pattern of gates, one row per cell.
Signs: TypeAlias = npt.NDArray[np.bool_]
# Numbers as users have them: lists, arrays, tensors, columns of a table.
ArrayLike: TypeAlias = npt.ArrayLike | Sequence[Any]
# Arrays of any kind of number: float32 where a user's maps are, float64 elsewhere.
AnyArray: TypeAlias = npt.NDArray[Any]
