"""`chat setup`: the few settings that matter, the first administrator and the first guild, and a look at whether the
instance can be reached.

In a terminal it asks; elsewhere, and with --yes, it takes what the options say. What is there is not made again, so it
may be run as often as one likes.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
import click

from chat.cli import importing
from chat.cli.options import (
    PORT,
    instance_options,
    is_terminal,
    json_alone_option,
    print_json,
    print_table,
    settings_file,
)
from chat.errors import OperatorError

if TYPE_CHECKING:
    from chat.cli.setup_checks import CheckResult
    from chat.cli.setup_questions import Present, SetupWish
    from chat.cli.setup_work import SetupOutcome

MARKS: Final = {True: ("ok", "green"), False: ("not yet", "yellow"), None: ("later", "cyan")}
"""How a check is marked that holds, does not, or cannot be made yet."""


@click.command()
@instance_options
@click.option("--public-url", metavar="URL", help="Where people reach it: https://chat.example.org, or here.")
@click.option("--host", help="Address to listen on.")
@click.option("--port", type=PORT, help="Port to listen on.")
@click.option("--tls-certificate", metavar="FILE", help="A certificate in PEM, to speak TLS without a proxy.")
@click.option("--tls-key", metavar="FILE", help="Its key.")
@click.option("--trusted-proxy", "proxies", multiple=True, metavar="NET", help="A proxy in front; may be repeated.")
@click.option("--mail", "mail_mode", type=click.Choice(["off", "smtp"]), help="Whether mail goes out.")
@click.option("--mail-host", help="SMTP server.")
@click.option("--mail-port", type=click.IntRange(1, 65_535), help="Its port.")
@click.option("--mail-tls", type=click.Choice(["starttls", "implicit", "off"]), help="How the connection is protected.")
@click.option("--mail-username", help="The account there.")
@click.option("--mail-password", help="Its password; - reads a line of standard input.")
@click.option("--mail-from", help="Sender of every mail.")
@click.option("--registration", type=click.Choice(["open", "approval", "closed"]), help="Who may make an account.")
@click.option("--admin", metavar="U", help="Username of the first administrator.")
@click.option("--admin-email", metavar="E", help="Its mail address.")
@click.option("--admin-password", metavar="P", help="Its password; - reads a line. One is made where none is given.")
@click.option("--guild", metavar="N", help="Name of the first guild.")
@click.option("--yes", is_flag=True, help="Ask nothing: do what the options say.")
@click.option("--check", "check_only", is_flag=True, help="Only look: exit 1 if anything does not hold.")
@click.option("--no-check", is_flag=True, help="Do not look whether the instance can be reached.")
@json_alone_option()
def setup(data: Path, yes: bool, check_only: bool, no_check: bool, as_json: bool, **options: Any) -> None:
    """Set an instance up, step by step.

    Address, mail, registration, first administrator, first guild; then a look at what holds. The defaults need none of
    it. What stands in the settings file stays, comments included.
    """
    given = {name: value for name, value in options.items() if value not in (None, ())}
    if check_only and (given or no_check or yes):
        raise click.UsageError("--check changes nothing: it goes with --data, --config and --json alone")
    is_asked = not (yes or check_only or as_json or given) and sys.stdin.isatty() and is_terminal()
    if not (is_asked or yes or check_only or given):
        raise click.UsageError("there is no terminal to ask on: name options, or say --yes")
    outcome = None
    with importing():
        from chat.cli.setup_work import carry_out, present_instance, taken_from_options
        from chat.store.data_directory import DataDirectory
    DataDirectory(data).become_owner()
    present = present_instance(data)
    if not check_only:
        wish = _asked(present) if is_asked else taken_from_options(given, present)
        outcome = carry_out(wish, present, data)
        if not as_json:
            _tell_outcome(outcome, data, is_set_up=present.is_set_up)
    found = [] if no_check else _look(data)
    if as_json:
        made = {} if outcome is None else {**attrs.asdict(outcome), "file": str(outcome.file)}
        print_json({**made, "checks": [attrs.asdict(each) for each in found]})
    else:
        _tell_found(found)
    broken = sum(each.holds is False for each in found)
    if check_only and broken:
        raise OperatorError(f"{'1 thing does' if broken == 1 else f'{broken} things do'} not hold yet")


def _asked(present: Present) -> SetupWish:
    from chat.cli.setup_questions import ask_everything

    click.echo(f"Setting up {present.file.parent}. Enter takes what stands in brackets.")
    click.echo("Nothing is written before the last question; Ctrl-C leaves everything as it is.")
    try:
        return _confirmed(ask_everything(present), present)
    except click.Abort:
        click.echo()  # the cursor stands behind a question
        raise


def _confirmed(wish: SetupWish, present: Present) -> SetupWish:
    """The wish, once it was looked at as a whole."""
    from chat.config.loading import SETTINGS

    click.echo()
    click.secho("What is to be", bold=True)
    rows: list[tuple[str, object]] = [
        (
            f"  {name}",
            "(secret)" if SETTINGS[name].declaration.secret and value else "nothing" if value is None else value,
        )
        for name, value in wish.settings.items()
    ]
    if wish.administrator is not None:
        rows.append(("  first administrator", f"{wish.administrator.username}, {wish.administrator.email}"))
    if wish.guild is not None:
        rows.append(("  first community", wish.guild))
    print_table(("", ""), rows, heading=False)
    click.echo()
    if not click.confirm(f"Write {present.file}?", default=True):
        raise click.Abort
    return wish


def _look(data: Path) -> list[CheckResult]:
    import trio

    from chat.cli.setup_checks import look
    from chat.config import load_settings
    from chat.store.data_directory import DataDirectory

    settings = load_settings(data, settings_file(), os.environ).settings
    return trio.run(look, settings, DataDirectory(data))


def _tell_outcome(outcome: SetupOutcome, data: Path, *, is_set_up: bool) -> None:
    click.echo()
    if outcome.written:
        click.echo(
            f"{outcome.file} has {', '.join(outcome.written)} now. A server that runs reads it when it starts next."
        )
    else:
        click.echo(f"{outcome.file} is as it was.")
    if outcome.administrator is not None:
        account = outcome.administrator
        click.echo(
            f"The administrator is {account['username']}, who signs in with {account['email'] or 'the username'}."
        )
        if "password" in account:
            click.echo(f"The password is {account['password']} and is told here alone.")
    if outcome.guild is not None:
        click.echo(f"The community is {outcome.guild['name']}. Invite people with {outcome.guild['invite']}")
    _tell_start(data, is_changed=bool(outcome.written), is_set_up=is_set_up or outcome.administrator is not None)


def _tell_start(data: Path, *, is_changed: bool, is_set_up: bool) -> None:
    """How the server is started as this machine starts it, so that it reads what was written."""
    from chat.cli.service_unit import unit_of
    from chat.store.data_directory import DataDirectory

    unit, process = unit_of(data), DataDirectory(data).owner()
    if process is not None and not is_changed:
        click.echo("The server runs.")
    elif unit is not None:
        click.echo(f"`systemctl restart {unit}` runs the server.")
    elif process is not None:
        click.echo(f"The server runs as process {process}: start it anew.")
    else:
        click.echo(f"`chat serve --data {data}` runs the server.")
    if not is_set_up:
        place = "on standard error" if unit is None else f"in its log: journalctl --unit {unit}"
        click.echo(f"Nobody administers it yet. At its start it tells the link for that {place}.")


def _tell_found(found: list[CheckResult]) -> None:
    if not found:
        return
    click.echo()
    for each in found:
        word, colour = MARKS[each.holds]
        click.echo(f"{click.style(f'{word:8}', fg=colour)}{each.check}: {each.words}")
