"""`python -m thinkback.apps.cli`."""

from thinkback.apps.cli import main

main()
