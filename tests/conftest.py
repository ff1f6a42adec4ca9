"""What every test module shares."""

from hypothesis import settings

pytest_plugins = ["tests.spec.ledger", "tests.long", "tests.canaries", "tests.answers"]

settings.register_profile("suite", deadline=None, max_examples=60)  # a busy machine is no failure
settings.register_profile("quick", deadline=None, max_examples=20)  # --hypothesis-profile=quick, while writing
settings.register_profile("nightly", deadline=None, max_examples=20_000)  # --hypothesis-profile=nightly
settings.load_profile("suite")
