"""Which labelled data can be told apart by hyperplanes, one class at a time or by polyhedra, with proofs."""
