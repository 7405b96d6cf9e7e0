"""Numbers of conjugate gradients, and why they are what they are (docs/decisions/0024-conjugate-gradients.md)."""

# A pivot of a node's block, beside its diagonal, from which on its rows are only scaled: rounding has taken half of its digits.
DEPENDENT = 1e-8
# r.Ar / r.r, beside the ones on the diagonal of A, below which no force makes the residual smaller: the bound that solver
# "tree" has for its regularised pivots.
NO_FORCE = 1e-12
# Times that the iteration begins, each from a residual without what rounding has added to it. What is left then is told.
RESTARTS = 4
# Iterations for each row, of either method: exact arithmetic needs one, and the second squares the condition of A.
LIMIT, SQUARED_LIMIT = 4, 100
# A residual that is told, relative to the right-hand side and, per row, absolute (m/s^2, m/s): solves go to 1e-10, or to 1e-4
# where they are repeated anyway.
OFF = 1e-6
# Where a rotor has its right-hand side, which is zero; -1 - row stands in the place of its block of J.
NOTHING = -1
