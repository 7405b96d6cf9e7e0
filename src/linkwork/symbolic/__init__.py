"""Algebra in CasADi that knows no element: rotations, blocks, derivatives of rows."""
