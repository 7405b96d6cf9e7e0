"""Where forces on joints stood when older worlds were pickled."""

from linkwork.elements.forces.contact_spring import ContactSpring as ContactSpring
from linkwork.elements.forces.follow import Follow as Follow
from linkwork.elements.forces.joint_limit import JointLimit as JointLimit
from linkwork.elements.forces.joint_spring import JointSpring as JointSpring
from linkwork.elements.forces.torsion_spring import TorsionSpring as TorsionSpring
