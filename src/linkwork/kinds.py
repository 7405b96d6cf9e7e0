"""What a kind of another package is written with: base classes, and what their methods take and give.

CONTRIBUTING.md says how to add one. A kind that lacks something is refused where it is declared.

>>> import linkwork.kinds as lk
>>> sorted(lk.JointKind.__abstractmethods__)
['frames', 'numbers', 'rows', 'world_subspace']
"""

from linkwork.elements.core.constraint_kind import anchors as anchors
from linkwork.elements.core.constraint_kind import apart as apart
from linkwork.elements.core.constraint_kind import column as column
from linkwork.elements.core.constraint_kind import perpendicular as perpendicular
from linkwork.elements.core.constraint_kind import position_rows as position_rows
from linkwork.elements.core.freedom import Freedom as Freedom
from linkwork.elements.core.freedom import FreedomLaw as FreedomLaw
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
from linkwork.elements.core.parameter import Parameter as Parameter
from linkwork.elements.core.registry import kind_of as kind_of
from linkwork.elements.joints.axis import AxisJoint as AxisJoint
from linkwork.elements.joints.axis import AxisJointKind as AxisJointKind
from linkwork.symbolic.autodiff import POSITION as POSITION
