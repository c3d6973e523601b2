"""The same function with fewer neurons."""
