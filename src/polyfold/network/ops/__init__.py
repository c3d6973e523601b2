"""The piecewise-linear operations that a network may consist of."""
