"""Weights over training: written down as they change, read back as networks, and what they say about the training."""
