"""Single cells: the one at an input, the one of a pattern, its facets, and those that touch a point."""
