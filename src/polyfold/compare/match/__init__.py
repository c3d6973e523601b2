"""Matching the neurons of two two-layer networks."""
