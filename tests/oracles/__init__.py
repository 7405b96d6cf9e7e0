"""Slow, obvious twins of what the package computes, in plain numpy. They share no mathematics with it."""
