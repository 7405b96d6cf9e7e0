"""Tests. A package, since some peers of the benchmarks install one of this name."""
