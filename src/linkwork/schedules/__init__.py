"""The order in which kernels run: sweeps as lists of operations."""
