"""Lowering: a network becomes a program, without rounding or with a bound on it."""
