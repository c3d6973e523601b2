"""Statistics of a network over its domain that follow from its atlas without sampling.

Moments come from the core's volumes, centroids and covariances; extrema from proved bounds and exact linear programs;
classes from unfolding the network with gates that compare its outputs, so that the decision boundary is a set of
facets. `boxes/` finds boxes around and inside cells and proves them; `facets/` counts facets and the layers that form
them.
"""

from polyfold._base.faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
