"""Node with the web client's pure modules, called from Python: so Hypothesis drives them, and shrinks what fails."""

from __future__ import annotations

import functools
import itertools
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import attrs
import orjson

from tests.conformance.clients.installed import node

CLIENT: Final = Path(__file__).parents[3] / "chat" / "web" / "client"
TESTS: Final = Path(__file__).parent
DIALOGUE: Final = Path(__file__).with_name("dialogue.js")


@attrs.frozen
class Kept:
    """Something that stays in Node. `member` names a part of it, where it is an argument."""

    node: NodeProcess
    handle: int

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a method of it."""
        return self.node.ask(self._question(name, arguments))

    def tell(self, name: str, *arguments: Any) -> None:
        """As `call`, sent together with what is asked next; the result is dropped."""
        self.node.note(self._question(name, arguments))

    def _question(self, name: str, arguments: tuple[Any, ...]) -> dict[str, Any]:
        return {"call": name, "on": self.handle, "arguments": arguments}

    def itself(self) -> dict[str, Any]:
        """It, as an argument of a call."""
        return {"kept": self.handle}

    def member(self, name: str) -> dict[str, Any]:
        """A part of it, likewise."""
        return {"kept": self.handle, "member": name}


@attrs.define(eq=False)
class NodeProcess:
    """One Node for many calls. A way there and back costs more than most calls, so calls whose results are not needed
    at once are sent together with the next question, in the same order."""

    _process: subprocess.Popen[bytes]
    _told: list[tuple[bytes, Callable[[Any], object] | None]] = attrs.field(factory=list)
    _handles: Iterator[int] = attrs.field(factory=itertools.count)

    def call(self, module: str, name: str, *arguments: Any) -> Any:
        """Call an export of a module of the client, such as `store/permissions`."""
        return self.ask(_question(module, name, arguments))

    def keep(self, module: str, name: str, *arguments: Any) -> Kept:
        """As `call`; what comes of it stays in Node."""
        kept = Kept(self, next(self._handles))
        self.note({**_question(module, name, arguments), "keep": kept.handle})
        return kept

    def tell(self, module: str, name: str, *arguments: Any, heard: Callable[[Any], object] | None = None) -> None:
        """As `call`, sent together with what is asked next; `heard` is given the result then."""
        self.note(_question(module, name, arguments), heard)

    def ask(self, question: dict[str, Any]) -> Any:
        """What comes of it; what Node throws is raised as AssertionError."""
        answers: list[Any] = []
        self.note(question, answers.append)
        self.hear()
        return answers[0]

    def note(self, question: dict[str, Any], heard: Callable[[Any], object] | None = None) -> None:
        """Put it into words at once: what it speaks of may change before it is sent."""
        self._told.append((orjson.dumps(question), heard))

    def hear(self) -> None:
        """Send all that was told, and hand on the results; what Node throws is raised as AssertionError."""
        told, self._told = self._told, []
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(b"[%b]\n" % b",".join(question for question, _ in told))
        stdin.flush()
        said = orjson.loads(stdout.readline())
        for result, (_, heard) in zip(said["results"], told, strict="error" not in said):
            if heard is not None:
                heard(result)
        if "error" in said:
            raise AssertionError(said["error"])

    def forget(self) -> None:
        """Begin anew: what was told and not sent is dropped, and so is everything that was kept."""
        self._told.clear()
        self.note({"forget": True})


@contextmanager
def running_node() -> Iterator[NodeProcess]:
    """Node as long as the block lasts."""
    command = [str(node()), str(DIALOGUE)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield NodeProcess(process)
        finally:
            process.kill()


def _question(module: str, name: str, arguments: tuple[Any, ...]) -> dict[str, Any]:
    return {"call": name, "of": _address(module), "arguments": arguments}


@functools.cache
def _address(module: str) -> str:
    """Of a module of the client, or with `./` of one that stands beside the tests."""
    folder = TESTS if module.startswith("./") else CLIENT
    return (folder / f"{module}.js").as_uri()
