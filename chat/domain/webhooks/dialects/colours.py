"""The colours of embeds about what other services tell, by what they mean."""

from __future__ import annotations

from typing import Final

GREEN: Final = 0x2DA44E
RED: Final = 0xCF222E
PURPLE: Final = 0x8250DF
BLUE: Final = 0x0969DA
GREY: Final = 0x6E7781
YELLOW: Final = 0xD4A72C
ORANGE: Final = 0xE8590C
