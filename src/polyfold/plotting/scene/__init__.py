"""Scenes: results as shapes, values and labels, which renderers draw without knowing what they mean."""
