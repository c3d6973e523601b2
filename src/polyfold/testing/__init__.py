"""Networks and domains to test with: generic ones, and the degenerate ones that break float enumerators.

`generated_case(seed)` is a reproducible network on a domain, with some tens of cells. `wide_case(seed)` is one of
more kinds: more dimensions and stages, pools, and up to some 300 cells. `polyfold.testing.strategies` wraps them
for Hypothesis; it is apart so that the generators run without Hypothesis. `import polyfold` imports none of this.
"""

from polyfold.testing.cases import Case, generated_case
from polyfold.testing.networks import program_from_layers, random_program
from polyfold.testing.wide import wide_case

__all__ = ["Case", "generated_case", "program_from_layers", "random_program", "wide_case"]
