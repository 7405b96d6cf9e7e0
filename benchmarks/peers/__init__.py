"""One adapter a peer; what each module offers stands in `interface.py`."""
