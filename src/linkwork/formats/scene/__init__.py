"""Scene files in YAML."""
