"""Classifiers with zero training error that are built, not trained, and the cost that they bring to zero."""
