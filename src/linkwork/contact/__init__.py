"""Contact: geometry, the contact problem and its solvers, and the stages of a step."""
