"""Networks rewritten: smaller, shallow, or edited, and the proof that the function is the same."""
