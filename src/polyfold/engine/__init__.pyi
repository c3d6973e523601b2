from .blocks import Block as Block
from .count import Count as Count
