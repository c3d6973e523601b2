"""Pictures: `geometry/` knows no picture, `scene/` no renderer, `render/` no network; `movie/` makes films.

The table `KINDS` in `api.py` says what can be drawn of what.
"""
