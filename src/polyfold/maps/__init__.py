"""The local affine maps of a network, as matrices: how to make, cluster and compare them.

`graph_forward.py` notes how every op decides at an input, `graph_backward.py` pulls outputs back through the network's
own graph, `storage.py` keeps matrices in files that go on where they stopped. `clusters.py` replaces maps by k centres,
`transfer.py` maps one network's to another's. `dual_space/` has the maps of cells as points, and where pieces jump.
"""

from polyfold._base.faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
