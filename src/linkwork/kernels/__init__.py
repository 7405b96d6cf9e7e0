"""From elements to kernels on records: rows, forces, bodies, eliminations."""
