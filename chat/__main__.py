"""`python -m chat` and the `chat` command."""

from typing import NoReturn

from chat.cli import importing


def main() -> NoReturn:
    """Run the command that the process's arguments name, and exit."""
    with importing():
        from chat.cli.main import main as run
    run()


if __name__ == "__main__":
    main()
