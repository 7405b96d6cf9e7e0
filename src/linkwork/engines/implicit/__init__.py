"""Implicit steps in maximal coordinates."""
