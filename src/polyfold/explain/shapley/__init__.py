"""Shapley values of networks that add up: of local affine models, and against reference points."""
