"""Other methods of counting cells, written from their descriptions, short rather than fast.

Each takes the layers [(W, b), ...] of a ReLU network, the last one without gates, and a box, and returns the number
of cells. They need general position: no wall may pass through a vertex. They hold no error bounds.
"""
