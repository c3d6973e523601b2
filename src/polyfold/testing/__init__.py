"""Networks and domains to test with: generic ones, and the degenerate ones that break float enumerators.

`generated_case(seed)` is a reproducible network on a domain, with some tens of cells. `wide_case(seed)` is one of
more kinds: more dimensions and stages, pools, and up to some 300 cells. `reference_unfold` finds all cells in another
way than the engine does, in rational numbers. `polyfold.testing.strategies` wraps the generators for Hypothesis; it is
apart so that they run without it. `import polyfold` imports none of this.
"""

from polyfold._base.faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
