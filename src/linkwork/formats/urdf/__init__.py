"""URDF."""
