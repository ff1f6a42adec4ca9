"""A person in front of the web client who does anything that the page offers (docs/contributing.md, PersonMachine)."""
