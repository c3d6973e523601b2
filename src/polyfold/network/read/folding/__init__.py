"""Constants that a model computes from constants: what they are in real arithmetic, not what floats make of them."""
