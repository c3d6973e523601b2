from .bounds import Bounds as Bounds, bounds as bounds
from .estimate import Estimate as Estimate, estimate as estimate
