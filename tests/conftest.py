"""What every test module shares."""

pytest_plugins = ["tests.spec.ledger"]
