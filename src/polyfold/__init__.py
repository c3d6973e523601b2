"""polyfold: every linear piece of a ReLU network, exactly and fast.

>>> import numpy as np, polyfold as pf
>>> atlas = pf.unfold([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))], pf.box(-1, 1))
>>> len(atlas), atlas.certificate.level
(4, 'checked')

From a model to its cells
    load, Network                       what the user has: torch, ONNX, scikit-learn, Keras or arrays
    box, polytope, slice_of, line, plane, Domain
                                        where to look
    unfold, unfold_in_blocks, count, resume, explore, local
                                        all cells, as many as fit, their number, those near a start, those at inputs
    Atlas, Cell, Certificate, open      what was found, and what is proved of it
    check, certify                      look at it again, prove it

The questions asked most
    regions, summarise                  linear regions, and rows of data in them
    equivalent, reduce                  are two networks the same function; a smaller one that is
    plot, report                        pictures, and a page with everything

All other questions, one namespace each
    size          how many cells there can be, and about how many there are
    stats         integrals, extrema, Lipschitz constants, classes, boundaries, boxes, facets
    topology      faces, level sets, Betti numbers, critical points, persistence
    graph         the dual graph, paths and diameter
    maps          affine maps at inputs and of patterns, clusters of them, dual space
    explain       Shapley values and integrated gradients, exactly
    symmetry      transformations that leave the function the same
    rewrite       reduction, stability, irreducible form, shallow networks and edits
    compare       equivalence, matching of neurons, canonical forms
    layers        truncation maps, one per layer
    separation    separability of data, and classifiers that interpolate them
    training      recordings of training, and movies
    errors        everything that can be wrong with what was given

What is named here is imported when it is first asked for, so that `import polyfold` takes no time.
"""

from polyfold._base.faces import attach

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = attach(__name__, __file__)
