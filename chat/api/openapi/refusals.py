"""What each operation may refuse with, beside what follows from its declaration: its codes, by method and path.

Kept by `python -m pytest --write-refusals`, which adds what the tests have seen (`tests/answers.py`); a complete test
run fails when an operation answers with a code that does not stand here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

REFUSALS: Final[Mapping[str, tuple[str, ...]]] = {}
