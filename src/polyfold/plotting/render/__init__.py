"""Renderers: each draws any scene, without knowing what it shows. `style.py` holds what they have in common."""
