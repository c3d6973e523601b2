from .canonical.build import canonical as canonical
from .canonical.form import Canonical as Canonical
from .equivalence.decide import equivalent as equivalent
from .equivalence.result import Equivalence as Equivalence
from .match.match import Match as Match, match as match
