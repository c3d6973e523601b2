from .graph import Network as Network, Node as Node, Port as Port
from .head import Head as Head
from .load import load as load
