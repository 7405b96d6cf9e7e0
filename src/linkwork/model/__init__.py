"""A world compiled: layout in memory, elimination order, states; arrays only."""
