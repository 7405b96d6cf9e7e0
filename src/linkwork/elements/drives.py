"""Where Armature stood when older worlds were pickled."""

from linkwork.elements.constraints.armature import Armature as Armature
