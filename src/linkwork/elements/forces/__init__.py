"""Forces: springs, dampers, drag, loads, motors, limits, and any function of a user. One file a force: the element and its law.

`a`, `b` and `body` are bodies or their names; `on_a`, `on_b` and `at` are in the bodies' frames, metres. Angles in radians,
travels in metres, both zero as built; right-handed about the joint's axis. Any coefficient may be a Parameter.
"""

from linkwork.elements import WHERE
from linkwork.util.lazy_names import lazy_names

# worlds that were pickled when all of them stood in one file name them here
__getattr__, __dir__ = lazy_names(__name__, {name: where for name, where in WHERE.items() if where.startswith(f"{__name__}.")})
