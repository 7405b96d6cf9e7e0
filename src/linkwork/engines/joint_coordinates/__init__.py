"""Steps in joint coordinates."""
