"""Helpers of these tests stand beside them."""

import sys
from pathlib import Path

for folder in ("", "mcp", "http"):
    sys.path.insert(0, str(Path(__file__).parent / folder))
