from .cases import Case as Case, generated_case as generated_case
from .networks import program_from_layers as program_from_layers, random_program as random_program
from .reference import ReferenceAtlas as ReferenceAtlas, reference_unfold as reference_unfold
from .wide import wide_case as wide_case
