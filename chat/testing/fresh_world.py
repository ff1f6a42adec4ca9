"""A test that runs in a fresh world, under any runner, and once for each example of Hypothesis.

    @given(content=strategies.message_contents())
    @in_world
    async def test_a_message_arrives(chat_world, content):
        bob = await chat_world.bob.connect()
        await chat_world.alice.rest.send_message(chat_world.channel_id, content)
        await bob.expect("MESSAGE_CREATE")

The decorated function is an ordinary one: pytest calls it without a plugin, `unittest` as a method of a TestCase, and
Hypothesis as often as it likes. Each call is a Trio run of its own with a server of its own on virtual time, so an
example sees nothing of the one before, and an hour of waiting takes no time. It asks for `chat_world`, for
`chat_server`, or for both by name; what else it takes are the arguments of its caller.
"""

from __future__ import annotations

import functools
import inspect
import tempfile
import types
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final, overload

import trio

from chat.testing import options
from chat.testing.conversation import Conversation
from chat.testing.deterministic import run_deterministically
from chat.testing.registered_world import describe, route_of
from chat.testing.server import ChatServer, open_chat_server
from chat.testing.world import World

WORLD: Final = "chat_world"
SERVER: Final = "chat_server"

VIRTUAL_SECONDS: Final = 366 * 86_400.0
"""A test that waits longer, in virtual time, waits for something that does not come."""

Test = Callable[..., Awaitable[object]]


@overload
def in_world(test: Test, /) -> Callable[..., None]: ...
@overload
def in_world(
    *, settings: Mapping[str, object] | None = None, seed: int | None = None
) -> Callable[[Test], Callable[..., None]]: ...


def in_world(
    test: Test | None = None, /, *, settings: Mapping[str, object] | None = None, seed: int | None = None
) -> Callable[..., Any]:
    """Run an `async def` test in a fresh world each time it is called.

    `settings` are those of the server, by their dotted names; `seed` replaces the one that follows from the test's
    name. Raises TypeError for a function that is not `async def` or asks for neither world nor server.
    """
    if test is None:
        return functools.partial(_decorated, settings=settings or {}, seed=seed)
    return _decorated(test, settings={}, seed=None)


def _decorated(test: Test, *, settings: Mapping[str, object], seed: int | None) -> Callable[..., None]:
    signature = inspect.signature(test)
    wanted = {WORLD, SERVER} & set(signature.parameters)
    if not inspect.iscoroutinefunction(test) or not wanted:
        raise TypeError(f"in_world is for an `async def` that takes chat_world or chat_server, not for {test!r}")

    remaining = [parameter for name, parameter in signature.parameters.items() if name not in wanted]
    own = signature.replace(parameters=remaining, return_annotation=None)

    def run(*arguments: Any, **named: Any) -> None:
        __tracebackhide__ = True
        given = own.bind(*arguments, **named).arguments
        conversation, failure = Conversation(), None
        try:
            _run(functools.partial(test, **given), wanted, settings, _seed(test, seed), conversation)
        except BaseException as error:  # noqa: BLE001 - raised again below
            failure = _failure_of_the_test(error, conversation)
        if failure is not None:
            raise failure  # outside the handler: the group that it came in is no news

    decorated: Any = functools.update_wrapper(run, test)
    del decorated.__wrapped__  # pytest and Hypothesis would look through to the coroutine function
    decorated.__signature__ = own
    decorated.runs_in_world = True  # for the plugin's report
    # Hypothesis shows where the function that it calls begins: that is the test.
    code: types.CodeType = test.__code__
    run.__code__ = run.__code__.replace(co_filename=code.co_filename, co_firstlineno=code.co_firstlineno)
    return run


def _seed(test: Test, seed: int | None) -> int:
    return options.current().seed_of(f"{test.__module__}.{test.__qualname__}") if seed is None else seed


def _run(
    test: Callable[..., Awaitable[object]],
    wanted: set[str],
    settings: Mapping[str, object],
    seed: int,
    conversation: Conversation,
) -> None:
    chosen = options.current()
    if chosen.url is None:
        main = functools.partial(_in_own_server, test, wanted, settings, seed, conversation)
        run_deterministically(seed, main, virtual_seconds=VIRTUAL_SECONDS)
    elif SERVER in wanted:
        raise options.OptionError(f"chat_server is a server in the test; {chosen.url} is none: ask for chat_world")
    else:
        trio.run(_on_theirs, test, chosen, conversation)


async def _in_own_server(
    test: Callable[..., Awaitable[object]],
    wanted: set[str],
    settings: Mapping[str, object],
    seed: int,
    conversation: Conversation,
) -> None:
    __tracebackhide__ = True
    with tempfile.TemporaryDirectory(prefix="chat-world-") as folder:
        async with open_chat_server(Path(folder), seed=seed, settings=settings) as server:
            given: dict[str, ChatServer | World] = {SERVER: server} if SERVER in wanted else {}
            if WORLD not in wanted:
                await test(**given)
                return
            async with trio.open_nursery() as nursery:
                world = World(server.description(), server.route(), nursery, conversation=conversation)
                await test(**given, **{WORLD: world})
                await world.aclose()
                nursery.cancel_scope.cancel()


async def _on_theirs(
    test: Callable[..., Awaitable[object]], chosen: options.Options, conversation: Conversation
) -> None:
    __tracebackhide__ = True
    description = await describe(chosen)
    async with trio.open_nursery() as nursery:
        world = World(description, route_of(description), nursery, conversation=conversation)
        await test(**{WORLD: world})
        await world.aclose()
        nursery.cancel_scope.cancel()


def _failure_of_the_test(error: BaseException, conversation: Conversation) -> BaseException:
    """The error out of the groups of the nurseries around it, with what was said before."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    report = conversation.report()
    if report and isinstance(error, Exception):
        error.add_note(report)
    return error
