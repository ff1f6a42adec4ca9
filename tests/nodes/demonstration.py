"""Core, broker, two nodes and a proxy on this machine, to look at:

    python -m tests.nodes.demonstration

It prints an address to open in two browsers, the accounts to sign in with, and the process of each node, to be killed.
The core is `chat dev`, the broker redis-server, the proxy nginx with the rule of the manual (nodes.md).
"""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import attrs

from chat.manual.library import FOLDER
from tests.nodes.redis_server import HOST, RedisServer, free_port
from tests.patience import PATIENCE_SECONDS
from tests.test_proxies import blocks, program
from tests.test_readme import environment

NODE_PORTS: Final = ("8081", "8082")
"""Of the manual's rule."""

TEMPORARY: Final = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


@attrs.define(eq=False)
class Demonstration:
    """Everything, running. `nodes` by their ports; `world` is what `chat dev` announces."""

    folder: Path
    broker_url: str
    core_port: int
    port: int
    """Of the proxy."""
    world: dict[str, Any] = attrs.field(factory=dict)
    nodes: dict[int, subprocess.Popen[bytes]] = attrs.field(factory=dict)

    @property
    def origin(self) -> str:
        """What a browser opens."""
        return f"http://localhost:{self.port}"

    @property
    def data(self) -> Path:
        """The core's data directory."""
        return self.folder / "data"

    def start_core(self, stack: contextlib.ExitStack) -> None:
        """Start it, and read what it announces."""
        settings = {
            "CHAT_NODES": self.broker_url,
            "CHAT_PUBLIC_URL": self.origin,
            "CHAT_TRUSTED_PROXIES": json.dumps([f"{HOST}/32"]),
            "CHAT_CLIENT_PACKS": "true",
        }
        core = self._started(
            "dev", "--data", str(self.data), "--port", str(self.core_port), "--json", settings=settings, tells=True
        )
        stack.callback(_end, core)
        assert core.stdout is not None
        self.world = json.loads(core.stdout.readline() or "null")
        assert self.world, self.log

    def start_node(self, port: int) -> None:
        """Start a node, and wait until it reaches the core."""
        name = f"node {[*self.nodes, port].index(port) + 1}"
        self.nodes[port] = self._started(
            "gateway", "--port", str(port), "--node-id", name, settings={"CHAT_NODES": self.broker_url}
        )
        self._wait_for(f"http://{HOST}:{port}/_ready", self.nodes[port])

    def start_proxy(self, stack: contextlib.ExitStack) -> None:
        """nginx, with the rule of the manual."""
        (self.folder / "nginx.conf").write_text(self._proxy_settings())
        command = [program("nginx"), "-p", str(self.folder), "-e", "stderr", "-c", str(self.folder / "nginx.conf")]
        with (self.folder / "log").open("ab") as log:
            proxy = subprocess.Popen(command, stdout=log, stderr=log)
        stack.callback(proxy.wait)
        stack.callback(proxy.terminate)  # killed, it would leave its workers behind
        self._wait_for(f"http://{HOST}:{self.port}/_ready", proxy)

    def _proxy_settings(self) -> str:
        upstream, rule = blocks("nginx", (FOLDER / "nodes.md").read_text("utf-8"))
        for theirs, ours in zip(NODE_PORTS, self.nodes, strict=True):
            assert theirs in upstream
            upstream = upstream.replace(theirs, str(ours))
        temporary = "".join(f"{kind}_temp_path {self.folder}/{kind};\n" for kind in TEMPORARY)
        rest = f"proxy_pass http://{HOST}:{self.core_port};\nproxy_http_version 1.1;\nproxy_set_header Host $host;\n"
        here = "proxy_set_header Host $host;", f"proxy_set_header Host $host:{self.port};"
        return (
            f"daemon off;\npid {self.folder}/nginx.pid;\nerror_log stderr;\nevents {{}}\nhttp {{\naccess_log off;\n"
            f"{temporary}map $http_upgrade $connection_upgrade {{ default upgrade; '' close; }}\n{upstream}"
            f"server {{\nlisten {HOST}:{self.port};\nclient_max_body_size 0;\n{rule.replace(*here)}"
            f"location / {{\n{rest.replace(*here)}}}\n}}\n}}\n"
        )

    def _started(
        self, *arguments: str, settings: dict[str, str] | None = None, tells: bool = False
    ) -> subprocess.Popen[bytes]:
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "chat", *arguments],
                stdout=subprocess.PIPE if tells else log,
                stderr=log,
                env={**environment(), **(settings or {})},
            )

    def _wait_for(self, address: str, process: subprocess.Popen[bytes]) -> None:
        given_up = time.monotonic() + PATIENCE_SECONDS
        while True:
            assert process.poll() is None, self.log
            with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=5):  # noqa: S310 - it is ours
                return
            assert time.monotonic() < given_up, self.log
            time.sleep(0.05)

    @property
    def log(self) -> str:
        """What the processes said."""
        return (self.folder / "log").read_text(errors="replace")

    def chat(self, *arguments: str) -> Any:
        """What a command beside the core prints."""
        command = [sys.executable, "-m", "chat", *arguments, "--data", str(self.data)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment())
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def end_nodes(self) -> None:
        for node in self.nodes.values():
            _end(node)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


@contextmanager
def demonstration(folder: Path) -> Iterator[Demonstration]:
    """Start everything; end it after the block."""
    broker = RedisServer(folder)
    with contextlib.ExitStack() as stack:
        stack.callback(broker.kill)
        broker.start()
        shown = Demonstration(folder, broker.url, free_port(), free_port())
        stack.callback(shown.end_nodes)
        shown.start_core(stack)
        for _ in NODE_PORTS:
            shown.start_node(free_port())
        shown.start_proxy(stack)
        yield shown


def main() -> None:
    """Run it until Ctrl-C."""
    with tempfile.TemporaryDirectory(prefix="chat-nodes-") as folder, demonstration(Path(folder)) as shown:
        print(f"open {shown.origin}/login in two browsers, and sign in:")
        for user in shown.world["users"]:
            print(f"    {user['email']}  {user['password']}")
        for port, node in shown.nodes.items():
            print(f"node on port {port}: process {node.pid}; kill -9 {node.pid} and see what they notice")
        print(f"chat nodes list --data {shown.data}")
        print("Ctrl-C ends it")
        with contextlib.suppress(KeyboardInterrupt):
            signal.pause()


if __name__ == "__main__":
    main()
