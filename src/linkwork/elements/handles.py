"""Where the elements of hands stood when older simulations were pickled."""

from linkwork.elements.constraints.mouse_hold import Hold as Hold
from linkwork.elements.forces.mouse_spring import Pull as Pull
