"""Movies of training."""
