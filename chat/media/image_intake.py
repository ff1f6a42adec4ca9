"""What may become an avatar, an icon, a banner, a splash or an expression: ten formats (media.md, Image intake)."""

from __future__ import annotations

from typing import Final

from chat.media.image_header import ImageHeader, image_header
from chat.media.vector_image import vector_header

AVIF: Final = "image/avif"


def intake_header(content: bytes) -> ImageHeader | None:
    """The header of a whole image of one of the formats; None for everything else, and for a moving AVIF."""
    header = image_header(content, whole=True) or vector_header(content)
    if header is None or (header.content_type == AVIF and header.animated):
        return None
    return header
