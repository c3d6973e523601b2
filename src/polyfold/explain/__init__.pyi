from .integrated_gradients.integrate import integrated_gradients as integrated_gradients
from .integrated_gradients.result import IntegratedGradients as IntegratedGradients
from .shapley.explain import shapley as shapley
from .shapley.result import LocalShapley as LocalShapley, Shapley as Shapley
