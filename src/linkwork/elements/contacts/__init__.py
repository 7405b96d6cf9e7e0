"""What touches what: colliders, contacts, hard stops that act in one direction alone, and dry friction. One file each.

Without a `Contact` in the world no body touches another. Bodies that a joint or constraint connects never touch. SI units.
"""

from linkwork.elements import WHERE
from linkwork.util.lazy_names import lazy_names

# worlds that were pickled when all of them stood in one file name them here
__getattr__, __dir__ = lazy_names(__name__, {name: where for name, where in WHERE.items() if where.startswith(f"{__name__}.")})
