from .diameter import Diameter as Diameter, diameter as diameter
from .dual import DualGraph as DualGraph, dual as dual
from .path import Route as Route, path as path
