"""Readers: torch, ONNX, scikit-learn, Keras and arrays become networks, and are checked against the original."""
