"""Constraints that are no joints: points on curves, gears, rolling, prescribed motion, and any function of a user. One file a
constraint: the element and its rows.

`a` and `b` are bodies or their names; `at`, `axis`, `normal` are in the world as built, `on_a`, `on_b`, `axis_a`,
`normal_a` in the bodies' frames. Directions are unit vectors once made. Metres, seconds, radians.
"""

from linkwork.elements import WHERE
from linkwork.util.lazy_names import lazy_names

# worlds that were pickled when all of them stood in one file name them here
__getattr__, __dir__ = lazy_names(__name__, {name: where for name, where in WHERE.items() if where.startswith(f"{__name__}.")})
