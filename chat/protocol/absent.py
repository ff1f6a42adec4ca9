"""A member that is not there, where null means something else."""

from __future__ import annotations

import enum
from typing import Final, Literal


class Absent(enum.Enum):
    """The type of ABSENT."""

    ABSENT = enum.auto()


ABSENT: Final[Literal[Absent.ABSENT]] = Absent.ABSENT
"""Stands for a member that the client left out: what it would change stays as it is."""
