"""`python -m chat` and the `chat` command."""

from chat.cli.main import main

if __name__ == "__main__":
    main()
