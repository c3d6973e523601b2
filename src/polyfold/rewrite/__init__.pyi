from .reduction.reduce import reduce as reduce
from .reduction.result import Reduction as Reduction
from .shallow.build import shallow as shallow
from .shallow.edit import Edit as Edit, edit as edit
from .shallow.from_pieces import from_pieces as from_pieces
from .shallow.network import Shallow as Shallow
from .stability.decide import stability as stability
from .stability.result import Stability as Stability
from .two_layer.identifiable import Identifiability as Identifiability, identifiable as identifiable
from .two_layer.irreducible import Irreducible as Irreducible, irreducible as irreducible
