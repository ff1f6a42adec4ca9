"""A server in a process of its own, for tests of bots that are programs, and for tests without Trio.

    with DevServer() as server:
        subprocess.Popen(["node", "bot.mjs"], env={**os.environ, **server.environment})
        server.wait_for_session(server.world["bot"]["user_id"])
        server.say("!ping")
        assert server.wait_for_message(lambda message: message["content"] == "pong")

Everything here waits in the ordinary way: it fits `unittest`, pytest without a plugin, and a thread beside any loop. It
is `chat dev --stdio`, so other languages do the same with their own means.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from chat import wire
from chat.development.answers import DescribedWorld, ShownSession

WAIT_SECONDS: Final = 30.0
T = TypeVar("T")

POLL_SECONDS: Final = 0.05
MESSAGES: Final = 100


class DevServerError(AssertionError):
    """A command was refused, or what the test waited for did not come; the text says what."""


class DevServer:
    """`chat dev --stdio`, from `with` to its end. `settings` are those of the server, by their dotted names."""

    def __init__(self, settings: Mapping[str, object] | None = None) -> None:
        self._settings = dict(settings or {})
        self._turn = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self.world: DescribedWorld
        """What `chat dev --json` prints."""

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "chat", "dev", "--stdio"]
        self._process = subprocess.Popen(  # noqa: S603 - this very program
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.world = self.ask("start", settings=self._settings)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        process, self._process = self._process, None
        if process is not None:
            with process:
                assert process.stdin is not None
                process.stdin.close()
                try:
                    process.wait(WAIT_SECONDS)
                except subprocess.TimeoutExpired:
                    process.kill()

    @property
    def environment(self) -> dict[str, str]:
        """Where a bot finds the server and its token, as environment variables."""
        return environment_of(self.world)

    # Commands

    def ask(self, do: str, **members: object) -> Any:
        """Send a command of `chat dev --stdio` and return its result. Raises DevServerError where it is refused."""
        if self._process is None or self._process.stdin is None or self._process.stdout is None:
            raise DevServerError("the server does not run: use `with DevServer() as server`")
        with self._turn:
            self._process.stdin.write(json.dumps({"do": do, **members}) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        if not line:
            raise DevServerError(f"the server ended before it answered {do!r}")
        answer = json.loads(line)
        if not answer["ok"]:
            raise DevServerError(f"{do} was refused: {answer['error']}")
        return answer["result"]

    def request(self, method: str, path: str, *, token: str | None = None, body: object = None) -> tuple[int, Any]:
        """Status and decoded body of a request to a whole path, such as `/v1/users/@me`."""
        answer = self.ask("request", method=method, path=path, token=token, body=body)
        return answer["status"], answer["body"]

    def advance(self, seconds: float) -> None:
        """Move the server's clock forward; its timers run."""
        self.ask("clock", advance_ms=round(seconds * 1_000))

    def fault(self, action: str, target: object = "all", **members: object) -> int:
        """Strike sockets, sessions or requests; how many were struck."""
        affected: int = self.ask("fault", action=action, target=target, **members)["affected"]
        return affected

    def reset(self) -> None:
        """Go back to the seeded world."""
        self.ask("reset")

    # Talking and waiting

    def say(self, content: str, *, by: int = 0, channel_id: str | None = None) -> wire.Message:
        """The message that one of the world's `users` (alice, bob, carol) posts."""
        path = f"/v1/channels/{channel_id or self.world['channel_id']}/messages"
        status, message = self.request("POST", path, token=self.world["users"][by]["token"], body={"content": content})
        if status != 200:
            raise DevServerError(f"{content!r} was not posted: {status} {message}")
        posted: wire.Message = message
        return posted

    def messages(self, channel_id: str | None = None) -> list[wire.Message]:
        """The newest messages of a channel, newest first."""
        path = f"/v1/channels/{channel_id or self.world['channel_id']}/messages?limit={MESSAGES}"
        status, page = self.request("GET", path, token=self.world["users"][0]["token"])
        if status != 200:
            raise DevServerError(f"the messages cannot be read: {status} {page}")
        found: list[wire.Message] = page
        return found

    def wait_for_message(self, is_it: Callable[[wire.Message], bool], *, seconds: float = WAIT_SECONDS) -> wire.Message:
        """The newest message of the channel that satisfies `is_it`, as soon as there is one."""

        def look() -> wire.Message | None:
            return next(filter(is_it, self.messages()), None)

        return self._wait(look, lambda: f"no such message among {[m['content'] for m in self.messages()]}", seconds)

    def wait_for_session(self, user_id: str, *, seconds: float = WAIT_SECONDS) -> ShownSession:
        """The gateway session of an account, as soon as it has one with a socket."""

        def look() -> ShownSession | None:
            sessions: list[ShownSession] = self.ask("sessions")
            return next((one for one in sessions if one["user_id"] == user_id and one["attached"]), None)

        return self._wait(look, lambda: f"no session of {user_id} with a socket", seconds)

    def _wait(self, look: Callable[[], T | None], complaint: Callable[[], str], seconds: float) -> T:
        ends = time.monotonic() + seconds
        while (found := look()) is None:
            if time.monotonic() > ends:
                raise DevServerError(f"{complaint()} within {seconds} s")
            time.sleep(POLL_SECONDS)
        return found


def environment_of(world: DescribedWorld) -> dict[str, str]:
    """The environment variables for a bot's program, from the world that `chat dev --json` printed."""
    bot = world["bot"]
    return {
        "CHAT_BASE_URL": world["base_url"],
        "CHAT_GATEWAY_URL": world["gateway_url"],
        "CHAT_ORIGIN": world["base_url"].removesuffix("/v1"),
        "CHAT_BOT_TOKEN": bot["token"],
        "CHAT_BOT_USER_ID": bot["user_id"],
        "CHAT_GUILD_ID": world["guild_id"],
        "CHAT_CHANNEL_ID": world["channel_id"],
    }
