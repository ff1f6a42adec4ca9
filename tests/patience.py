"""How long tests wait in real time, where a virtual clock cannot be used."""

from typing import Final

PATIENCE_SECONDS: Final = 60.0
"""For what comes in a moment on an idle machine: on a busy one it comes later, which is no failure."""
