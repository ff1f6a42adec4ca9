"""What is blocked on the instance, held in memory, so that no request costs a statement.

The blocklists of administrators (administration.md, Blocklists) and the phrases of the setting
`content_policy.blocked_phrases` together. `chat.domain.administration.blocklists` keeps what is held here in step with
the store. Addresses, files and images may be asked for in units of writing as well; texts on the loop alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final, Protocol

from chat.auth.address_bans import BlockedNetworks
from chat.config import Settings
from chat.domain.policy.blocked_texts import (
    BlockedLinks,
    Held,
    PhraseMatcher,
    comparable_domain,
    comparable_text,
    domain_and_above,
)
from chat.domain.policy.images import ANIMATED_PREFIX, HASH_CHARACTERS
from chat.errors import ApiError
from chat.registries.blocklists import Blocklist
from chat.registries.error_codes import ErrorCode
from chat.store.accounts.accounts import email_key


class Values(Protocol):
    """The values of a blocklist in memory, in the form of `chat.domain.administration.blocklists.comparable`."""

    def replace(self, values: Collection[str], /) -> None:
        """Hold these and no others."""

    def add(self, value: str, /) -> None:
        """Hold one more."""

    def discard(self, value: str, /) -> None:
        """Hold one less."""


class BlockedValues:
    """Tells what is blocked; `networks` is asked where connections are taken in."""

    def __init__(self, settings: Settings, networks: BlockedNetworks) -> None:
        own_phrases = {comparable_text(phrase) for phrase in settings.content_policy.blocked_phrases if phrase}
        self.networks: Final = networks
        self._emails, self._files, self._images, self._images_of_files = Held(), Held(), Held(), Held(_image_of)
        self._phrases, self._profile_texts, self._links = PhraseMatcher(), PhraseMatcher(), BlockedLinks()
        self._matchers = (PhraseMatcher(own_phrases), self._phrases)
        self._held: Mapping[Blocklist, Sequence[Values]] = {
            Blocklist.EMAIL: (self._emails,),
            Blocklist.IP: (networks,),
            Blocklist.PHRASE: (self._phrases,),
            Blocklist.PROFILE_SUBSTRING: (self._profile_texts,),
            Blocklist.URL: (self._links.pages,),
            Blocklist.URL_DOMAIN: (self._links.domains,),
            Blocklist.FILE_SHA: (self._files, self._images_of_files),
            Blocklist.AVATAR_HASH: (self._images,),
        }

    def replace(self, name: Blocklist, values: Collection[str]) -> None:
        """A whole list anew."""
        for held in self._held[name]:
            held.replace(values)

    def add(self, name: Blocklist, value: str) -> None:
        """One value more."""
        for held in self._held[name]:
            held.add(value)

    def discard(self, name: Blocklist, value: str) -> None:
        """One value less."""
        for held in self._held[name]:
            held.discard(value)

    def blocks_text(self, text: str) -> bool:
        """Whether a text holds a blocked phrase or leads to what is blocked, in any letter case."""
        if any(self._matchers):
            comparable = comparable_text(text)
            if any(matcher.is_in(comparable) for matcher in self._matchers):
                return True
        return self._links.are_in(text)

    def blocks_email(self, email: str) -> bool:
        """Whether an address is blocked, by itself or with its domain."""
        if not self._emails.values:
            return False
        key = email_key(email)
        if key in self._emails.values:
            return True
        domain = comparable_domain(key.rpartition("@")[2])
        return any(f"@{above}" in self._emails.values for above in domain_and_above(domain))

    def blocks_file(self, sha256: str | None) -> bool:
        """Whether a file is blocked, by the digest of its bytes in hexadecimal digits."""
        return sha256 in self._files.values

    def blocks_image(self, image_hash: str) -> bool:
        """Whether an image is blocked, by the hash in its address, be it that its file is."""
        bare = image_hash.removeprefix(ANIMATED_PREFIX)
        return bare in self._images.values or bare in self._images_of_files.values

    def require_text(self, text: str) -> None:
        """Raise CONTENT_BLOCKED for a text that may stand nowhere."""
        if self.blocks_text(text):
            raise ApiError(ErrorCode.CONTENT_BLOCKED)

    def require_profile(self, text: str) -> None:
        """Raise CONTENT_BLOCKED for a text that may not stand in a name or a profile."""
        self.require_text(text)
        if self._profile_texts and self._profile_texts.is_in(comparable_text(text)):
            raise ApiError(ErrorCode.CONTENT_BLOCKED)

    def require_email(self, email: str) -> None:
        """Raise CONTENT_BLOCKED for an address that no account may have."""
        if self.blocks_email(email):
            raise ApiError(ErrorCode.CONTENT_BLOCKED)

    def require_file(self, sha256: str | None) -> None:
        """Raise CONTENT_BLOCKED for a blocked file."""
        if self.blocks_file(sha256):
            raise ApiError(ErrorCode.CONTENT_BLOCKED)

    def require_image(self, image_hash: str) -> None:
        """Raise CONTENT_BLOCKED for a blocked image."""
        if self.blocks_image(image_hash):
            raise ApiError(ErrorCode.CONTENT_BLOCKED)


def _image_of(sha256: str) -> str:
    """The hash that an image of this file has in its address."""
    return sha256[:HASH_CHARACTERS]
