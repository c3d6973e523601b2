"""Boxes around and inside cells and regions."""
