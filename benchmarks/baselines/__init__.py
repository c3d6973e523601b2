"""Other methods, written from their descriptions, short rather than fast.

Those that count cells take the layers [(W, b), ...] of a ReLU network, the last one without gates, and a box, and
return the number of cells. They need general position: no wall may pass through a vertex. `algorithm_1` takes the
layers and lists cells on all of R^d; `sampling` walks along lines. None holds error bounds.
"""
