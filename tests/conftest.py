"""Every run tries the same examples, and none fails because the machine was busy."""

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
