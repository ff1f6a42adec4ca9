"""What a search answers (conventions of this family)."""

from __future__ import annotations

from typing import Final

from chat.api.schemas.guilds.channels import CHANNEL
from chat.api.schemas.messages.messages import MESSAGE
from chat.api.schemas.shapes import COUNT, SNOWFLAKE, TRUE, integer, listed, record, wire_object

SEARCH_RESULTS: Final = wire_object(
    "MessageSearchResults",
    {
        "messages": listed(MESSAGE, maximum=25),
        "channels": listed(CHANNEL, maximum=25),
        "total": integer(0, 10_000),
        "hits_per_page": integer(1, 25),
        "page": COUNT,
    },
    optional={"cursor": listed(SNOWFLAKE, maximum=1)},
    description="One page of the messages found. `cursor` is there when another page follows.",
)

INDEXING: Final = record({"indexing": TRUE})
"""The index is not ready; ask again later."""
