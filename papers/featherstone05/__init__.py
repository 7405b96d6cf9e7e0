"""featherstone05: "Efficient Factorization of the Joint-Space Inertia Matrix for Branched Kinematic Trees"."""
