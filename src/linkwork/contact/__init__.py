"""Contact: where bodies touch, and the impulses that keep them apart."""
