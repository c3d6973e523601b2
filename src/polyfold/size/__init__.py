"""How many cells a network can have: bounds from the literature, and what a run would cost."""
