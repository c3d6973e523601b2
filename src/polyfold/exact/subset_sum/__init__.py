"""Sums of some of given vectors: which subset makes a target, in whole numbers."""
