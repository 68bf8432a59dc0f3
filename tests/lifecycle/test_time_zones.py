"""No time zone of the machine changes anything: the whole of this folder passes in six of them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent.parent
ZONES = ["UTC", "America/Los_Angeles", "America/St_Johns", "Asia/Kathmandu", "Pacific/Kiritimati", "Europe/Oslo"]


@pytest.mark.slow
@pytest.mark.parametrize("zone", ZONES)
def test_the_suite_passes_everywhere(zone: str) -> None:
    folders = [str(TESTS / "lifecycle")]
    command = [
        sys.executable,
        "-m",
        "pytest",
        *folders,
        "-q",
        "-m",
        "not slow",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:randomly",
    ]
    done = subprocess.run(
        command, env={**os.environ, "TZ": zone}, capture_output=True, text=True, cwd=TESTS.parent, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout or "100%" in done.stdout
