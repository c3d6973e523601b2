"""Dual space: the affine maps of cells as points (w, b), and what becomes of a function whose points are moved."""
