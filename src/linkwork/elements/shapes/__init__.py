"""Shapes: one file each, with moments, bounding box, facets and what collision needs."""

from linkwork.elements import WHERE
from linkwork.util.lazy_names import lazy_names

# worlds that were pickled when all of them stood in one file name them here
__getattr__, __dir__ = lazy_names(__name__, {name: where for name, where in WHERE.items() if where.startswith(f"{__name__}.")})
