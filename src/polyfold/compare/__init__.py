"""Whether two networks are the same function, up to what, and in which form they can be compared."""
