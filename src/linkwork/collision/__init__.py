"""Where colliders touch: broad phase, pairs, distances."""
