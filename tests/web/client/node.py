"""Node with the web client's pure modules, called from Python: so Hypothesis drives them, and shrinks what fails."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import attrs

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
        return self.node.ask({"call": name, "on": self.handle, "arguments": arguments})

    def itself(self) -> dict[str, Any]:
        """It, as an argument of a call."""
        return {"kept": self.handle}

    def member(self, name: str) -> dict[str, Any]:
        """A part of it, likewise."""
        return {"kept": self.handle, "member": name}


@attrs.define(eq=False)
class NodeProcess:
    """One Node for many calls."""

    _process: subprocess.Popen[str]

    def call(self, module: str, name: str, *arguments: Any) -> Any:
        """Call an export of a module of the client, such as `store/permissions`."""
        return self.ask({"call": name, "of": _address(module), "arguments": arguments})

    def keep(self, module: str, name: str, *arguments: Any) -> Kept:
        """As `call`; what comes of it stays in Node."""
        asked = {"call": name, "of": _address(module), "arguments": arguments, "keep": True}
        return Kept(self, self.ask(asked))

    def ask(self, question: dict[str, Any]) -> Any:
        """One line there and one back; what Node throws is raised as AssertionError."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(question) + "\n")
        stdin.flush()
        said = json.loads(stdout.readline())
        if "error" in said:
            raise AssertionError(said["error"])
        return said["result"]


@contextmanager
def running_node() -> Iterator[NodeProcess]:
    """Node as long as the block lasts."""
    command = [str(node()), str(DIALOGUE)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield NodeProcess(process)
        finally:
            process.kill()


def _address(module: str) -> str:
    """Of a module of the client, or with `./` of one that stands beside the tests."""
    folder = TESTS if module.startswith("./") else CLIENT
    return (folder / f"{module}.js").as_uri()
