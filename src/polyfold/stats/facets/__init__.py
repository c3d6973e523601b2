"""How many facets cells have, which layers form them, and how large cells are."""
