"""Contact rows, the contact problem, its solvers and its place in a step."""
