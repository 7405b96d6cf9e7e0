"""Where LagrangianBody stood when older worlds were pickled."""

from linkwork.elements.bodies.lagrangian import LagrangianBody as LagrangianBody
