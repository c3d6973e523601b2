"""The faces of an atlas, and what they say of the shape of sets: one question a file."""
