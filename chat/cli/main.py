"""`chat`: finds the command, and turns what went wrong into one line and an exit status.

0 done; 1 failed, with one clear line on standard error; 2 wrong usage. To a service manager 78 tells that a server does
not start with its settings, so that it does not try again.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Final, NoReturn

import click

from chat import __version__
from chat.errors import ApiError, InvalidFormBody, OperatorError, SettingsError, StorageUnavailable

DONE: Final = 0
FAILED: Final = 1
WRONG_USAGE: Final = 2
WRONG_SETTINGS: Final = 78
"""EX_CONFIG of sysexits.h."""

PRIVATE_UMASK: Final = 0o077
"""What this program writes is its own account's business: secrets lie in the database."""

COMMANDS: Final[Mapping[str, str]] = {
    "serve": "chat.cli.serve:serve",
    "gateway": "chat.cli.gateway:gateway",
    "nodes": "chat.cli.nodes:nodes",
    "dev": "chat.cli.serve:dev",
    "setup": "chat.cli.setup:setup",
    "user": "chat.cli.user:user",
    "bot": "chat.cli.bot:bot",
    "key": "chat.cli.instance:key",
    "guild": "chat.cli.guild:guild",
    "channel": "chat.cli.guild:channel",
    "invite": "chat.cli.guild:invite",
    "ban": "chat.cli.instance:ban",
    "block": "chat.cli.block:block",
    "job": "chat.cli.instance:job",
    "audit-log": "chat.cli.instance:audit_log",
    "mail": "chat.cli.config:mail",
    "config": "chat.cli.config:config",
    "check": "chat.cli.check:check",
    "status": "chat.cli.status:status",
    "monitoring": "chat.cli.monitoring:monitoring",
    "backup": "chat.cli.backup:backup",
    "backups": "chat.cli.backups:backups",
    "restore": "chat.cli.restore:restore",
    "storage": "chat.cli.storage:storage",
    "import": "chat.cli.brought_imports:import_",
    "export": "chat.cli.exports:export",
    "export-user": "chat.cli.backup:export_user",
    "openapi": "chat.cli.config:openapi",
    "asyncapi": "chat.cli.config:asyncapi",
    "bench": "chat.cli.bench:bench",
}
"""Where each command is; one whose module an installation leaves out is not offered."""


class LazyGroup(click.Group):
    """A group that imports a command when it is asked for."""

    def list_commands(self, context: click.Context) -> list[str]:
        return [name for name, place in COMMANDS.items() if find_spec(place.partition(":")[0]) is not None]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in self.list_commands(context):
            return None
        module, _, attribute = COMMANDS[name].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command


@click.group("chat", cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="chat", message="%(prog)s %(version)s")
def root() -> None:
    """A self-hosted community chat server.

    `chat serve` runs it and `chat dev` a throw-away one. Every other command works on the data directory (--data,
    CHAT_DATA), whether or not a server runs on it; a running server takes notice at once.
    """


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command that the arguments name (those of the process by default), and exit."""
    os.umask(PRIVATE_UMASK)
    try:
        status = root.main(args=arguments, prog_name="chat", standalone_mode=False)
    except click.UsageError as error:
        error.show()
        sys.exit(WRONG_USAGE)
    except click.ClickException as error:
        _fail(error.format_message())
    except click.Abort:
        _fail("aborted")
    except BrokenPipeError:
        _leave_quietly()
    except BaseExceptionGroup as errors:
        if all(isinstance(leaf, KeyboardInterrupt) for leaf in leaves(errors)):
            _fail("aborted")
        if not isinstance(errors, Exception):
            raise
        _fail(_in_one_line(errors), _status(errors))
    except Exception as error:  # noqa: BLE001 - a person's mistakes are told apart from ours, which are raised on
        _fail(_in_one_line(error), _status(error))
    sys.exit(status if isinstance(status, int) else DONE)


def _fail(message: str, status: int = FAILED) -> NoReturn:
    click.echo(f"chat: {' '.join(message.split())}", err=True)
    sys.exit(status)


def _status(error: Exception) -> int:
    is_managed = "NOTIFY_SOCKET" in os.environ
    return WRONG_SETTINGS if is_managed and any(isinstance(leaf, SettingsError) for leaf in leaves(error)) else FAILED


def _leave_quietly() -> NoReturn:
    """The reader of our output is gone: say nothing more, not even while the interpreter flushes."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(FAILED)


def _in_one_line(error: Exception) -> str:
    """What a person needs to know of an error that a person can cause; any other is raised again."""
    import sqlite3

    from chat.store.writer import as_caller_sees

    for leaf in leaves(error):
        match leaf:
            case OperatorError():
                return str(leaf)
            case InvalidFormBody():
                return "; ".join(f"{wrong.path}: {wrong.as_member()['message']}" for wrong in leaf.errors)
            case StorageUnavailable():
                return f"the database cannot be used: {leaf.__cause__ or leaf.message}"
            case ApiError():
                return leaf.message
            case sqlite3.Error() if isinstance(unavailable := as_caller_sees(leaf), StorageUnavailable):
                return f"the database cannot be used: {unavailable.__cause__}"
            case FileNotFoundError() if leaf.filename is None and not _has_working_directory():
                return "the working directory is gone: change into one that is there"
            case OSError() if leaf.strerror is not None:
                return leaf.strerror if leaf.filename is None else f"{leaf.filename}: {leaf.strerror}"
    raise error


def _has_working_directory() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return False
    return True


def leaves(error: BaseException) -> Iterator[BaseException]:
    """The error itself, or what a nursery gathered."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from leaves(inner)
    else:
        yield error
