from .boxes.boxes import Boxes as Boxes, boxes as boxes
from .classes import (
    ClassAreas as ClassAreas,
    Classes as Classes,
    class_areas as class_areas,
    classes as classes,
)
from .decision_boundary import DecisionBoundary as DecisionBoundary, decision_boundary as decision_boundary
from .extrema import Extremum as Extremum, maximum as maximum, minimum as minimum
from .facets.statistics import FacetStatistics as FacetStatistics, facets as facets
from .lipschitz import Lipschitz as Lipschitz, lipschitz as lipschitz
from .moments import (
    OutputStatistic as OutputStatistic,
    covariance as covariance,
    integral as integral,
    mean as mean,
    variance as variance,
)
from .nearest_change import NearestChange as NearestChange, nearest_change as nearest_change
from .summarise import Summary as Summary
