"""What every test module shares."""

from hypothesis import settings

pytest_plugins = ["tests.spec.ledger"]

settings.register_profile("suite", deadline=None)  # a busy machine is no failure
settings.load_profile("suite")
