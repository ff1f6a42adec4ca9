"""What of an export is to come along."""

from __future__ import annotations

from chat.classes import frozen


@frozen(kw_only=True)
class ReadingWish:
    """`since` is Unix milliseconds: older messages stay where they are. Without `channels` all come along, by id or by
    name. `files` False leaves out what was uploaded."""

    since: int = 0
    channels: frozenset[str] = frozenset()
    files: bool = True

    def takes_channel(self, channel_id: int, name: str) -> bool:
        """Whether a channel comes along."""
        return not self.channels or str(channel_id) in self.channels or name in self.channels
