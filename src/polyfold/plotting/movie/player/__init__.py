"""The HTML player of movies: one file with pictures, controls and data, which asks nothing of any server."""
