"""Bodies: what moves. One file a kind: the element, its mathematics (CasADi), and its numbers as built and read.

World frame, SI units; arrays are float64 once made. `position` is the centre of mass (RigidBody: unless `com` says otherwise)
and `velocity` is that of this point.
"""

from linkwork.elements import WHERE
from linkwork.util.lazy_names import lazy_names

# worlds that were pickled when all of them stood in one file name them here
__getattr__, __dir__ = lazy_names(__name__, {name: where for name, where in WHERE.items() if where.startswith(f"{__name__}.")})
