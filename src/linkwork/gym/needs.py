"""Gymnasium, or a sentence that says how to install it."""

from linkwork.errors import LinkworkError

try:
    import gymnasium
    import gymnasium.vector
except ImportError as missing:
    raise LinkworkError('lw.gym: environments need Gymnasium; pip install "linkwork[gym]"') from missing

__all__ = ["gymnasium"]
