"""Which rows of the tables in `spec_fixtures/gateway` prove which rules: each id, and how the names of its rows begin.

A table is told to the parser alone and to a whole server; both name the rules from here. Queries have no names: there
the whole query stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

Proofs = Mapping[str, tuple[str, ...]]


def rules_of(proofs: Proofs, row: str) -> list[str]:
    """The rules that a row proves, by its name."""
    return [rule for rule, beginnings in proofs.items() if row.startswith(beginnings)]


def rules_of_query(query: str) -> list[str]:
    """The rules that a row of the table of queries proves."""
    return [rule for rule, queries in QUERIES.items() if query in queries]


WITHOUT_D: Final[Proofs] = {
    "000.framing.25": ("opcode 0", "opcode 1 ", "opcode 3", "opcode 99", "heartbeat with d in upper case"),
    "000.framing.26": ("opcode 2 ", "identify whose members"),
    "000.framing.27": ("opcode 6",),
    "000.framing.28": ("16,385 bytes that are not", "16,385 blanks", "op wrong and d missing", "5,000 digits in op"),
}
FRAMING: Final[Proofs] = WITHOUT_D | {
    "000.framing.2": ("two objects",),
    "000.framing.3": ("UTF-16", "UTF-32", "UTF-8 cut", "Latin-1", "overlong", "surrogate in UTF-8", "byte 0xFF"),
    "000.framing.4": ("16,385 bytes", "16,386 bytes", "20,000 letters"),
    "000.framing.20": ("empty message", "white space only", "unfinished", "not JSON", "single quotes", "comment"),
    "000.framing.21": ("array", "string", "number", "true", "false", "null"),
    "000.framing.22": ("NaN", "Infinity", "number beyond", "65 levels", "8,000", "5,000"),
    "000.framing.23": ("empty object", "op missing", "op in upper case"),
    "000.framing.24": ("op is",),
    "000.limits.1": ("16,384 bytes",),
}

IDENTIFY: Final[Proofs] = {
    "000.opcodes.3": ("d is",),
    "000.opcodes.4": ("token is",),
    "000.opcodes.6": ("properties missing",),
    "000.opcodes.7": ("properties is",),
    "000.opcodes.8": ("os missing", "browser missing", "device missing"),
    "000.opcodes.17": ("least",),
    "000.opcodes.18": ("shard null",),
    "000.opcodes.19": ("shard [1, 1]", "shard [2, 2]", "shard [3, 2]", "shard [16384, 16384]"),
    "000.opcodes.20": ("shard [-1, 1]", "shard [-1, 2]"),
    "000.opcodes.21": ("shard [0.", "shard [true", "shard [null", 'shard ["0"', "shard [0, 1.0", "shard [0, null"),
    "000.opcodes.22": ("shard [0]", "shard [0, 1, 2]", "shard is object", "shard is string", "shard is number"),
    "000.opcodes.23": ("shard [0, 0]",),
    "000.opcodes.24": ("shard [0, 16385]", "shard [16384, 16385]"),
    "000.identify.15": ("shard [0, 1]", "shard [0, 16384]", "shard [16383, 16384]"),
    "000.identify.17": ("token missing",),
    "000.identify.18": ("token empty",),
}
RESUME: Final[Proofs] = {
    "000.opcodes.9": ("d is",),
    "000.resume.5": ("token missing", "token is"),
    "000.resume.6": ("session_id missing", "session_id is"),
    "000.resume.7": ("seq missing", "seq is"),
}

QUERIES: Final[Proofs] = {
    "000.query.1": ("v=01", "v=1.0", "v=%2B1", "v=+1"),
    "000.query.2": ("v=1&v=2", "v=1&v=", "v=2&v=1", "v=&v=1"),
    "000.query.3": ("v=1&encoding=json",),
    "000.query.4": ("v=1&encoding=etf", "v=1&encoding=JSON"),
    "000.query.5": ("v=1",),
    "000.query.6": ("v=1&compress=zstd-stream&stream=1",),
    "000.query.7": ("v=1&compress=zstd-stream&stream=true",),
    "000.query.8": ("v=1&compress=zstd-stream",),
    "000.query.9": ("v=1&stream=1",),
    "000.query.10": ("v=1&compress=none&stream=1",),
    "000.query.11": ("v=1",),
    "000.query.12": ("v=1&compress=zlib-stream&stream=1", "v=1&compress=zstd&stream=1"),
    "000.query.13": ("v=1&compress=zstd-stream&stream=yes", "v=1&compress=zstd-stream&stream=0"),
    "000.query.14": ("v=1&unknown=1&intents=7",),
    "000.query.15": ("v=1&encoding=json", "stream=1&compress=zstd-stream&v=1"),
    "000.states.1": ("v=1",),
    "000.states.2": ("", "encoding=json", "version=1"),
    "000.states.3": ("v=2", "v=0", "v=10"),
    "000.connect.3": ("v=1&encoding=json&compress=zstd-stream&stream=1&x=y",),
}
