"""The geometry of cells: generators, rows, maps, and where a point lies."""
