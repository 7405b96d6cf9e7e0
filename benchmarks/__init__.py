"""Benchmarks of linkwork, beside its peers. Start with README.md."""
