"""Vectors that are outer products, row by row: all of them together may not fit in memory."""

from __future__ import annotations

from dataclasses import dataclass

from polyfold.exact.rational_arrays import Rationals


@dataclass(frozen=True, eq=False)
class OuterProducts:
    """The matrix whose column k is left[:, k] times right[k], entry by entry; rows are made when they are asked for.

    >>> from polyfold.exact.rational_arrays import rationals
    >>> products = OuterProducts(rationals([[1, 2]]), rationals([[3, 4], [5, 6]]))
    >>> products.shape, [products[row].tolist() for row in range(2)]
    ((2, 2), [[3, 10], [4, 12]])
    """

    left: Rationals
    right: Rationals

    @property
    def shape(self) -> tuple[int, int]:
        """Entries of a product, and products."""
        return self.left.shape[0] * self.right.shape[1], self.left.shape[1]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, row: int) -> Rationals:
        i, j = divmod(row, self.right.shape[1])
        found: Rationals = self.left[i] * self.right[:, j]
        return found
