"""Errors in tests are matched by their code, never by their prose."""

from thinkback.testing.errors import raises as raises
