"""What nobody may use on the instance, as it is asked for: held in memory, so that no request costs a statement.

The blocklists of administrators (administration.md, Blocklists) and the phrases of the setting
`content_policy.blocked_phrases` together. `chat.domain.administration.blocklists` keeps what is held here in step with
the store. Addresses, files and images may be asked for in units of writing as well; texts on the loop alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final

from chat.auth.blocked_networks import BlockedNetworks
from chat.config import Settings
from chat.domain.policy.blocked_links import BlockedLinks, comparable_domain, domain_and_above, readable_domain
from chat.domain.policy.images import ANIMATED_PREFIX, HASH_CHARACTERS
from chat.domain.policy.phrase_matcher import PhraseMatcher, comparable_text
from chat.errors import ApiError
from chat.registries.blocklists import Blocklist
from chat.store.accounts.accounts import email_key


class BlockedValues:
    """Tells what is blocked; `networks` is asked by whoever takes connections in."""

    def __init__(self, settings: Settings, networks: BlockedNetworks) -> None:
        self._of_settings: Final = {
            comparable_text(phrase) for phrase in settings.content_policy.blocked_phrases if phrase
        }
        self.networks: Final = networks
        self._emails: set[str] = set()
        self._phrases = PhraseMatcher(self._of_settings)
        self._profile_texts = PhraseMatcher()
        self._links = BlockedLinks()
        self._files: set[str] = set()
        self._images: set[str] = set()
        self._images_of_files: set[str] = set()

    # What is held: values in the form of `chat.domain.administration.blocklists.comparable`

    def replace(self, name: Blocklist, values: Collection[str]) -> None:
        """A whole list anew."""
        replacing: Mapping[Blocklist, Callable[[Iterable[str]], None]] = {
            Blocklist.IP: self.networks.replace,
            Blocklist.PHRASE: lambda phrases: self._phrases.replace({*self._of_settings, *phrases}),
            Blocklist.PROFILE_SUBSTRING: self._profile_texts.replace,
            Blocklist.URL: self._links.replace_pages,
            Blocklist.URL_DOMAIN: self._links.replace_domains,
        }
        if name in replacing:
            replacing[name](values)
        else:
            held = self._set(name)
            held.clear()
            held.update(values)
        if name is Blocklist.FILE_SHA:
            self._images_of_files = {_image_of(value) for value in values}

    def add(self, name: Blocklist, value: str) -> None:
        """One value more."""
        if name is Blocklist.IP:
            self.networks.add(value)
        elif name is Blocklist.PHRASE:
            self._phrases.add(value)
        elif name is Blocklist.PROFILE_SUBSTRING:
            self._profile_texts.add(value)
        elif name is Blocklist.URL_DOMAIN:
            self._links.domains.add(readable_domain(value))
        else:
            self._set(name).add(value)
        if name is Blocklist.FILE_SHA:
            self._images_of_files.add(_image_of(value))

    def discard(self, name: Blocklist, value: str) -> None:
        """One value less."""
        if name is Blocklist.IP:
            self.networks.discard(value)
        elif name is Blocklist.PHRASE:
            if value not in self._of_settings:
                self._phrases.discard(value)
        elif name is Blocklist.PROFILE_SUBSTRING:
            self._profile_texts.discard(value)
        elif name is Blocklist.URL_DOMAIN:
            self._links.domains.discard(readable_domain(value))
        else:
            self._set(name).discard(value)
        if name is Blocklist.FILE_SHA:
            self._images_of_files.discard(_image_of(value))

    def _set(self, name: Blocklist) -> set[str]:
        return {
            Blocklist.EMAIL: self._emails,
            Blocklist.URL: self._links.pages,
            Blocklist.FILE_SHA: self._files,
            Blocklist.AVATAR_HASH: self._images,
        }[name]

    # What is asked

    def blocks_text(self, text: str) -> bool:
        """Whether a text holds a blocked phrase or leads to what is blocked, in any letter case."""
        if self._phrases and self._phrases.is_in(comparable_text(text)):
            return True
        return self._links.are_in(text)

    def blocks_email(self, email: str) -> bool:
        """Whether an address is blocked, by itself or with its domain."""
        if not self._emails:
            return False
        key = email_key(email)
        if key in self._emails:
            return True
        domain = comparable_domain(key.rpartition("@")[2])
        return any(f"@{above}" in self._emails for above in domain_and_above(domain))

    def blocks_file(self, sha256: str | None) -> bool:
        """Whether a file is blocked, by the digest of its bytes in hexadecimal digits."""
        return sha256 in self._files

    def blocks_image(self, image_hash: str) -> bool:
        """Whether an image is blocked, by the hash in its address, be it that its file is."""
        bare = image_hash.removeprefix(ANIMATED_PREFIX)
        return bare in self._images or bare in self._images_of_files

    def require_text(self, text: str) -> None:
        """Raise CONTENT_BLOCKED for a text that may stand nowhere."""
        if self.blocks_text(text):
            raise ApiError("CONTENT_BLOCKED")

    def require_profile(self, text: str) -> None:
        """Raise CONTENT_BLOCKED for a text that may not stand in a name or a profile."""
        self.require_text(text)
        if self._profile_texts and self._profile_texts.is_in(comparable_text(text)):
            raise ApiError("CONTENT_BLOCKED")

    def require_email(self, email: str) -> None:
        """Raise CONTENT_BLOCKED for an address that no account may have."""
        if self.blocks_email(email):
            raise ApiError("CONTENT_BLOCKED")

    def require_file(self, sha256: str | None) -> None:
        """Raise CONTENT_BLOCKED for a file that nobody may send."""
        if self.blocks_file(sha256):
            raise ApiError("CONTENT_BLOCKED")

    def require_image(self, image_hash: str) -> None:
        """Raise CONTENT_BLOCKED for an image that nobody may show."""
        if self.blocks_image(image_hash):
            raise ApiError("CONTENT_BLOCKED")


def _image_of(sha256: str) -> str:
    """The hash that an image of this file has in its address."""
    return sha256[:HASH_CHARACTERS]
