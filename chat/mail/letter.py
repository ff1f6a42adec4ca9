"""What a mail says, told once: its plain text and its HTML are made from the same description."""

from __future__ import annotations

import attrs


@attrs.frozen
class Action:
    """The one thing that a mail asks for: a link, and the words on its button."""

    label: str
    link: str = attrs.field(repr=False)


@attrs.frozen(kw_only=True)
class Letter:
    """The content of a mail, in the order in which it is read.

    All of it is plain text: what people chose themselves (usernames and the like) needs no escaping by whoever writes
    a letter.
    """

    subject: str
    paragraphs: tuple[str, ...]
    action: Action | None = None
    code: str | None = attrs.field(default=None, repr=False)
    """A code that is typed instead of a link that is followed."""
    closing: tuple[str, ...] = ()
    """Paragraphs after the action: what to do if it was not the reader who asked."""

    @property
    def text(self) -> str:
        """The plain text part; ends with a line feed."""
        parts = list(self.paragraphs)
        if self.code is not None:
            parts.append(f"    {self.code}")
        if self.action is not None:
            parts.append(f"{self.action.label}:\n{self.action.link}")
        return "\n\n".join((*parts, *self.closing)) + "\n"
