from .boundary_movement import BoundaryMovement as BoundaryMovement, boundary_movement as boundary_movement
from .cell_counts import CellCounts as CellCounts, cell_counts as cell_counts
from .map_drift import MapDrift as MapDrift, map_drift as map_drift
from .recorder import open as open, record as record
from .recording import Recording as Recording
from polyfold.plotting.movie.movie import Movie as Movie, movie as movie
