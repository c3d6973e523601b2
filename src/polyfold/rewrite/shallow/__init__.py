"""The shallow network of a piecewise-linear function, how it is built, evaluated, written out and changed."""
