"""Many worlds of one model, stepped together."""
