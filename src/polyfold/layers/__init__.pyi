from .build import truncation as truncation
from .cones import cone_layer as cone_layer
from .interpret import Interpretation as Interpretation
from .one_map import TruncationMap as TruncationMap, truncation_map as truncation_map
from .result import Truncation as Truncation
from polyfold.plotting.film_strip import film_strip as film_strip
