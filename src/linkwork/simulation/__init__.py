"""A Simulation: a world compiled, stepped, read, edited and recorded."""
