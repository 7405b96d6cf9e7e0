"""Where the fields of a collider stand: its constants in rows of numbers and of integers, its pose in rows of numbers."""

PLANE, SPHERE, CAPSULE, BOX, CYLINDER, ELLIPSOID, HULL, CONVEX, MESH, FIELD = range(10)  # kinds; a pair is taken in this order

TRIANGLE = 10  # one of a surface: no collider of its own

# numbers that do not change
SIZE = 0  # (3) m: half lengths, or radius and half length; of a hull, CONVEX or surface, half of its bounding box
MIDDLE = 3  # (3) m: of the local bounding box
TURNED = 6  # (9) rotation in the body
MOVED = 15  # (3) m: position in the body
CONSTANTS = 18  # in all

# integers that do not change
KIND = 0
BODY = 1  # -1 the ground
GROUP = 2  # -1 none
LARGE = 3  # 1: stands beside the tree
AT_NUMBERS = 4  # where its shape begins in shape_numbers
AT_INTEGERS = 5  # and in shape_integers; of CONVEX, the address of its support function
RULES = 6  # words of 62 bits: the rules that it takes part in

# numbers of every step
ROTATION = 0  # (9) in the world
POSITION = 9  # (3) m, in the world
POSE = 12  # in all
