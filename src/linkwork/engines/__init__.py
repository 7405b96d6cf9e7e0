"""Solvers and integrators, by the coordinates in which they step."""
