"""What a package needs to add kinds of bodies, joints, constraints, forces, sensors and shapes of its own: base classes, the
decorator that declares a kind, and the algebra of expressions.

CONTRIBUTING.md says how, and `tests/elements/outside/` has some, each in one file outside of this package. A kind that lacks
something is refused where it is declared.

>>> import linkwork as lw
>>> from linkwork import kinds
>>> isinstance(kinds.kind_for(lw.Particle(1.0)), kinds.BodyKind)
True
>>> sorted(kinds.JointKind.__abstractmethods__)
['frames', 'parameters', 'rows', 'world_subspace']
>>> sorted(kinds.ConstraintKind.__abstractmethods__), sorted(kinds.ForceKind.__abstractmethods__)
(['parameters', 'rows'], ['law', 'parameters'])
"""

from __future__ import annotations

from linkwork.elements.bodies.filling import check_vectors as check_vectors
from linkwork.elements.bodies.filling import fill_mass as fill_mass
from linkwork.elements.bodies.filling import fill_moment as fill_moment
from linkwork.elements.core import checks as checks
from linkwork.elements.core.body_kind import BodyKind as BodyKind
from linkwork.elements.core.body_kind import carried_over as carried_over
from linkwork.elements.core.constraint_kind import ConstraintKind as ConstraintKind
from linkwork.elements.core.constraint_kind import anchors as anchors
from linkwork.elements.core.constraint_kind import perpendicular as perpendicular
from linkwork.elements.core.constraint_kind import position_rows as position_rows
from linkwork.elements.core.contact_parts import NONE as NONE
from linkwork.elements.core.contact_parts import ContactParts as ContactParts
from linkwork.elements.core.contact_parts import ContactPose as ContactPose
from linkwork.elements.core.element import Body as Body
from linkwork.elements.core.element import ConstraintElement as ConstraintElement
from linkwork.elements.core.element import ForceElement as ForceElement
from linkwork.elements.core.element import PairConstraint as PairConstraint
from linkwork.elements.core.element_kind import apart as apart
from linkwork.elements.core.element_kind import column as column
from linkwork.elements.core.element_kind import user_points as user_points
from linkwork.elements.core.element_kind import vectors as vectors
from linkwork.elements.core.force_kind import Coordinate as Coordinate
from linkwork.elements.core.force_kind import ForceKind as ForceKind
from linkwork.elements.core.force_kind import Term as Term
from linkwork.elements.core.force_kind import travelling as travelling
from linkwork.elements.core.force_kind import turning as turning
from linkwork.elements.core.freedom import Freedom as Freedom
from linkwork.elements.core.freedom import FreedomLaw as FreedomLaw
from linkwork.elements.core.included import carried_along as carried_along
from linkwork.elements.core.included import is_ground as is_ground
from linkwork.elements.core.joint import Joint as Joint
from linkwork.elements.core.joint import kind_of_joint as kind_of_joint
from linkwork.elements.core.joint import one_way as one_way
from linkwork.elements.core.joint_kind import Bounds as Bounds
from linkwork.elements.core.joint_kind import ClosedRows as ClosedRows
from linkwork.elements.core.joint_kind import JointKind as JointKind
from linkwork.elements.core.joint_kind import LimitRow as LimitRow
from linkwork.elements.core.joint_kind import LimitSort as LimitSort
from linkwork.elements.core.joint_kind import Pivot as Pivot
from linkwork.elements.core.joint_kind import Pose as Pose
from linkwork.elements.core.joint_kind import Turning as Turning
from linkwork.elements.core.mobilizer import HALF_TURN as HALF_TURN
from linkwork.elements.core.mobilizer import ZERO3 as ZERO3
from linkwork.elements.core.mobilizer import Mobilizer as Mobilizer
from linkwork.elements.core.mobilizer import Reversed as Reversed
from linkwork.elements.core.mobilizer import X as X
from linkwork.elements.core.mobilizer import Y as Y
from linkwork.elements.core.mobilizer import Z as Z
from linkwork.elements.core.mobilizer import about as about
from linkwork.elements.core.mobilizer import angle_about as angle_about
from linkwork.elements.core.mobilizer import half_turned as half_turned
from linkwork.elements.core.parameter import Parameter as Parameter
from linkwork.elements.core.placement import Placement as Placement
from linkwork.elements.core.placement import Poses as Poses
from linkwork.elements.core.placement import matrices as matrices
from linkwork.elements.core.placement import stack as stack
from linkwork.elements.core.registry import kind_for as kind_for
from linkwork.elements.core.registry import kind_of as kind_of
from linkwork.elements.core.sensor import Sensor as Sensor
from linkwork.elements.core.sensor_kind import At as At
from linkwork.elements.core.sensor_kind import EffortSensorKind as EffortSensorKind
from linkwork.elements.core.sensor_kind import JointSensorKind as JointSensorKind
from linkwork.elements.core.sensor_kind import MeasuredSensorKind as MeasuredSensorKind
from linkwork.elements.core.sensor_kind import Place as Place
from linkwork.elements.core.sensor_kind import PlaceSensorKind as PlaceSensorKind
from linkwork.elements.core.sensor_kind import SensorKind as SensorKind
from linkwork.elements.core.sensor_kind import along_axes as along_axes
from linkwork.elements.core.sensor_kind import at as at
from linkwork.elements.core.shape import Collision as Collision
from linkwork.elements.core.shape import Core as Core
from linkwork.elements.core.shape import Facets as Facets
from linkwork.elements.core.shape import Shape as Shape
from linkwork.elements.core.units import Quantity as Quantity
from linkwork.elements.joints.axis import AxisJoint as AxisJoint
from linkwork.elements.joints.axis import AxisJointKind as AxisJointKind
from linkwork.elements.sensors.framed import FrameSensor as FrameSensor
from linkwork.elements.sensors.framed import FrameSensorKind as FrameSensorKind
from linkwork.elements.sensors.framed import RelativeSensor as RelativeSensor
from linkwork.elements.sensors.framed import RelativeSensorKind as RelativeSensorKind
from linkwork.symbolic import rotation as rotation
from linkwork.symbolic.autodiff import POSITION as POSITION
from linkwork.symbolic.autodiff import VELOCITY as VELOCITY
from linkwork.symbolic.blocks import cross as cross
from linkwork.symbolic.blocks import skew as skew
from linkwork.symbolic.blocks import symmetric as symmetric
from linkwork.symbolic.views import Primitive as Primitive
from linkwork.symbolic.views import View as View
from linkwork.symbolic.views import carried_quaternion as carried_quaternion
from linkwork.symbolic.views import matrix33 as matrix33
from linkwork.symbolic.views import turned_axes as turned_axes
from linkwork.symbolic.vocabulary import Moment as Moment
