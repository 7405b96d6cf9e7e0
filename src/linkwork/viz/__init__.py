"""Pictures: plots, offscreen rendering, replay pages."""
