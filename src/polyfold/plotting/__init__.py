"""Pictures: geometry, scenes that know no renderer, renderers, movies."""
