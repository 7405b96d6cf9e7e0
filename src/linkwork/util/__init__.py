"""Files, archives, memory and attributes: what every other folder may use."""
