"""What a package needs to add kinds of bodies and shapes of its own: base classes, the decorator, the algebra of expressions.

CONTRIBUTING.md says how, and `tests/elements/outside/` has a body and a shape, each in one file outside of this package.

>>> import linkwork as lw
>>> from linkwork import kinds
>>> isinstance(kinds.kind_for(lw.Particle(1.0)), kinds.BodyKind)
True
"""

from linkwork.elements.bodies.filling import check_vectors as check_vectors
from linkwork.elements.bodies.filling import fill_mass as fill_mass
from linkwork.elements.bodies.filling import fill_moment as fill_moment
from linkwork.elements.core import checks as checks
from linkwork.elements.core.body_kind import NONE as NONE
from linkwork.elements.core.body_kind import BodyKind as BodyKind
from linkwork.elements.core.body_kind import ContactParts as ContactParts
from linkwork.elements.core.body_kind import ContactPose as ContactPose
from linkwork.elements.core.body_kind import carried_over as carried_over
from linkwork.elements.core.element import Body as Body
from linkwork.elements.core.placement import Placement as Placement
from linkwork.elements.core.placement import Poses as Poses
from linkwork.elements.core.placement import matrices as matrices
from linkwork.elements.core.placement import stack as stack
from linkwork.elements.core.registry import kind_for as kind_for
from linkwork.elements.core.registry import kind_of as kind_of
from linkwork.elements.core.shape import Collision as Collision
from linkwork.elements.core.shape import Core as Core
from linkwork.elements.core.shape import Facets as Facets
from linkwork.elements.core.shape import Shape as Shape
from linkwork.symbolic import rotation as rotation
from linkwork.symbolic.blocks import cross as cross
from linkwork.symbolic.blocks import skew as skew
from linkwork.symbolic.blocks import symmetric as symmetric
from linkwork.symbolic.views import Primitive as Primitive
from linkwork.symbolic.views import View as View
from linkwork.symbolic.views import carried_quaternion as carried_quaternion
from linkwork.symbolic.views import matrix33 as matrix33
from linkwork.symbolic.views import turned_axes as turned_axes
