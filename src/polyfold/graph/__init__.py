"""Cells or regions as a graph: who touches whom, how far apart they are, and which gates lie between."""
