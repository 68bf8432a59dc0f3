"""`python -m recollect.apps.cli`."""

from recollect.apps.cli import main

main()
