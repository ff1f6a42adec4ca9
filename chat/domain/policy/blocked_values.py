"""What is blocked on the instance (instance.md, Content policy), held in memory, so that no request costs a statement.

The blocklists of administrators (administration.md, Blocklists) and the phrases of the setting
`content_policy.blocked_phrases` together. `chat.domain.administration.blocklists` keeps what is held here in step with
the store. Addresses, files and images may be asked for in units of writing as well; texts on the loop alone. Blocked
phrases, pages and domains are found in time that grows with the text and not with the number of what is blocked.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

import attrs

from chat.auth.address_bans import BlockedNetworks
from chat.classes import define
from chat.config import Settings
from chat.domain.policy.component_trees import Components, addresses_of_components, texts_of_components
from chat.domain.policy.embeds import Embeds, addresses_of, texts_of
from chat.domain.policy.images import ANIMATED_PREFIX, HASH_CHARACTERS
from chat.errors import ApiError
from chat.markdown.addresses import addresses_anywhere, host_of, page_of
from chat.markdown.inline import links_of
from chat.registries.blocklists import Blocklist
from chat.registries.error_codes import ErrorCode
from chat.store.accounts.accounts import email_key
from chat.store.messages.attachments import Attachment


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
        """Raise CONTENT_BLOCKED for a text that may stand nowhere: it holds a blocked phrase, in any letter case, or
        leads to what is blocked."""
        if self.blocks_text(text):
            raise ApiError(ErrorCode.CONTENT_BLOCKED)

    def require_embeds(self, embeds: Embeds) -> None:
        """As `require_text`, for every text and every address in embeds."""
        if embeds:
            self.require_text("\n".join((*texts_of(embeds), *addresses_of(embeds))))

    def require_components(self, components: Components) -> None:
        """As `require_text`, for every text and every address in components."""
        if components:
            self.require_text("\n".join((*texts_of_components(components), *addresses_of_components(components))))

    def require_files(self, files: Iterable[Attachment]) -> None:
        """Raise CONTENT_BLOCKED for a blocked file, and for what is said about one."""
        for file in files:
            self.require_file(file.content_hash)
            self.require_text("\n".join((file.filename, file.title or "", file.description or "")))

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


CHANGES_BORNE: Final = 64
"""Phrases that may come and go before the automaton is made anew, which takes 8 microseconds a phrase."""


def comparable_text(text: str) -> str:
    """The form in which phrases and texts are compared: compatibility forms resolved, letter case folded."""
    return unicodedata.normalize("NFKC", text).casefold()


class PhraseMatcher:
    """A set of phrases, in the form of `comparable_text`, none of them empty.

    An automaton holds most of them (Aho and Corasick: one pass over the text for all). Entries that were added since it
    was made are searched for one by one; entries that were removed since are found and then ignored.
    """

    def __init__(self, phrases: Iterable[str] = ()) -> None:
        self._phrases: set[str] = set()
        self._recent: set[str] = set()
        self._gone = 0
        self._automaton: Any = None
        self.replace(phrases)

    def __len__(self) -> int:
        """How many phrases there are."""
        return len(self._phrases)

    def replace(self, phrases: Iterable[str]) -> None:
        """Hold these and no others."""
        self._phrases = set(phrases)
        self._rebuild()

    def add(self, phrase: str) -> None:
        """Look for this as well."""
        if phrase not in self._phrases:
            self._phrases.add(phrase)
            self._recent.add(phrase)
            if len(self._recent) > CHANGES_BORNE:
                self._rebuild()

    def discard(self, phrase: str) -> None:
        """Look for this no more."""
        if phrase in self._phrases:
            self._phrases.remove(phrase)
            self._recent.discard(phrase)
            self._gone += 1
            if self._gone > CHANGES_BORNE:
                self._rebuild()

    def is_in(self, text: str) -> bool:
        """Whether any of the phrases occurs in a text, whose form is that of `comparable_text`."""
        if not self._phrases:
            return False
        if any(phrase in text for phrase in self._recent):
            return True
        if self._automaton is None:
            return False
        found = self._automaton.iter(text)
        return any(text[end + 1 - length : end + 1] in self._phrases for end, length in found)

    def _rebuild(self) -> None:
        self._gone, self._automaton = 0, None
        if len(self._phrases) <= CHANGES_BORNE:
            self._recent = set(self._phrases)
            return
        import ahocorasick  # type: ignore[import-not-found]  # only an instance with many phrases needs it

        self._recent = set()
        automaton = ahocorasick.Automaton(ahocorasick.STORE_LENGTH)
        for phrase in self._phrases:
            automaton.add_word(phrase)
        automaton.make_automaton()
        self._automaton = automaton


_ENCODED: Final = "xn--"
_NAME: Final = re.compile(r"[\w.-]+")
_AFTER_A_PAGE: Final = ".,;:!?)]}'*_~|`"
"""What stands behind an address rather than in it, as in running text or Markdown."""

_UNSEEN: Final = re.compile("[\xad\u034f\u180e\u200b-\u200d\u2060\ufe00-\ufe0f\ufeff]")
"""Characters in a name that browsers pass over."""

HOST_CHARACTERS: Final = 253
"""No host name is longer (RFC 1035)."""


def comparable_page(url: str) -> str:
    """The form in which addresses of pages are compared: without fragment, scheme and host in lower case; empty for
    what is not the address of a page."""
    scheme, separator, rest = url.partition("://")
    if not separator or scheme.lower() not in ("http", "https"):
        return ""
    rest = rest.partition("#")[0].rstrip(_AFTER_A_PAGE)
    end = min((place for place in map(rest.find, "/?") if place >= 0), default=len(rest))
    host, path = rest[:end].lower(), rest[end:]
    if not host:
        return ""
    return f"{scheme.lower()}://{host}{path if path.startswith('/') else '/' + path}"


def visited_page(address: str) -> str:
    """The form in which pages are looked up: where a browser goes, whatever detours the address takes, and without what
    `comparable_page` leaves out; empty for what leads to no page."""
    return (page_of(address) or "").rstrip(_AFTER_A_PAGE)


def _addresses(text: str, plain: str) -> set[str]:
    """Wherever a text may lead: by its links, by what stands in code, by what a person sees in it."""
    found = {link.href for link in links_of(text)}
    found.update(addresses_anywhere(text))
    if plain != text:
        found.update(addresses_anywhere(plain))
    return found


def comparable_domain(name: str) -> str:
    """The form in which domains are compared: as the name system has them; empty for text that is no domain."""
    bare = name.lower().strip(".")
    if "." not in bare or len(bare) > HOST_CHARACTERS or _NAME.fullmatch(bare) is None:
        return ""
    if bare.isascii():
        return bare
    try:
        return bare.encode("idna").decode("ascii")
    except UnicodeError:
        return ""


def readable_domain(name: str) -> str:
    """The form in which the names in a text are looked up: characters rather than what the name system has for them.
    There may be a thousand names in one message, and the other way round each would take a hundred times as long."""
    bare = unicodedata.normalize("NFKC", name).casefold().strip(".")
    if _ENCODED not in bare:
        return bare
    return ".".join(map(_readable_label, bare.split(".")))


def _readable_label(label: str) -> str:
    try:
        encoded = label.removeprefix(_ENCODED).encode("ascii")
        return encoded.decode("punycode") if label.startswith(_ENCODED) else label
    except UnicodeError:
        return label


def domain_and_above(domain: str) -> Iterator[str]:
    """The domain and every domain that it lies in."""
    while "." in domain:
        yield domain
        domain = domain.partition(".")[2]


@define(eq=False)
class Held:
    """Values, each in the form that `form` makes of it."""

    form: Callable[[str], str] = str
    values: set[str] = attrs.field(factory=set, init=False)

    def replace(self, values: Iterable[str], /) -> None:
        """Hold these and no others."""
        self.values = set(map(self.form, values))

    def add(self, value: str, /) -> None:
        """Hold one more."""
        self.values.add(self.form(value))

    def discard(self, value: str, /) -> None:
        """Hold one less."""
        self.values.discard(self.form(value))


class BlockedLinks:
    """A set of pages in the form of `visited_page`, and a set of domains in that of `readable_domain`."""

    def __init__(self) -> None:
        self.pages: Final = Held(visited_page)
        self.domains: Final = Held(readable_domain)

    def are_in(self, text: str) -> bool:
        """Whether a text leads to a blocked page, or names a blocked domain or one below it, in time that grows with
        the text."""
        if not (self.pages.values or self.domains.values):
            return False
        # Browsers take the ideographic full stop for a dot, and characters in other forms for the plain ones.
        plain = unicodedata.normalize("NFKC", text).replace("\N{IDEOGRAPHIC FULL STOP}", ".")
        addresses = _addresses(text, plain) if "://" in plain else set()
        if self.pages.values and not self.pages.values.isdisjoint(filter(None, map(visited_page, addresses))):
            return True
        if not self.domains.values:
            return False
        names = _NAME.findall(_UNSEEN.sub("", plain))
        return any(map(self.cover, names)) or any(self.cover(host_of(found)) for found in addresses)

    def cover(self, name: str) -> bool:
        """Whether a domain is blocked, by itself or with one that it lies in."""
        if "." not in name:
            return False
        return not self.domains.values.isdisjoint(domain_and_above(readable_domain(name[-HOST_CHARACTERS:])))
