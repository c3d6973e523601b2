from .boxes.build import boxes as boxes
from .boxes.result import Boxes as Boxes
from .class_areas import ClassAreas as ClassAreas, class_areas as class_areas
from .classes import Classes as Classes, classes as classes
from .decision_boundary import DecisionBoundary as DecisionBoundary, decision_boundary as decision_boundary
from .extrema import Extremum as Extremum, maximum as maximum, minimum as minimum
from .facets.build import facets as facets
from .facets.result import FacetStatistics as FacetStatistics
from .lipschitz import Lipschitz as Lipschitz, lipschitz as lipschitz
from .moments import covariance as covariance, integral as integral, mean as mean, variance as variance
from .nearest_change import NearestChange as NearestChange, nearest_change as nearest_change
from .summarise import Summary as Summary
