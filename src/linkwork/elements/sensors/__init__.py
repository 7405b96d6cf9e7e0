"""Sensors, one kind a file: the element and how it reads a simulation."""
