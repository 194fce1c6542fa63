"""Settings of every property test: the same examples each time, no clock."""

from hypothesis import settings

settings.register_profile("colme", deadline=None, derandomize=True, max_examples=30)
settings.load_profile("colme")
