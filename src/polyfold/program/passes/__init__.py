"""Passes over a program, each in an arithmetic of its own."""
