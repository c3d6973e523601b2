"""Truncation maps: what the layers of a network do to its input space, one question a file."""
