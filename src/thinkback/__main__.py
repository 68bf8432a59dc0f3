"""`python -m thinkback` is the command line."""

from thinkback.apps.cli import main

main()
