"""The local affine maps of a network at many inputs, as matrices: how to make, cluster and compare them."""
