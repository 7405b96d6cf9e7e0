"""Steps in maximal coordinates."""
