"""Whether two networks are the same function: decided exactly, or bounded."""
