"""MJCF, by MuJoCo's own compiler."""
