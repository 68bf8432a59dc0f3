"""What a type checker tells a user: misspelt fields, values and names are errors, correct programs are not."""

import re
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("user_program.py")


@pytest.mark.slow
def test_mypy_finds_the_mistakes_of_a_user_and_nothing_else(tmp_path: Path) -> None:
    from mypy import api

    options = ["--strict", "--no-error-summary", "--cache-dir", str(tmp_path), "--python-executable", sys.executable]
    out, err, _ = api.run([*options, "--config-file", "", str(PROGRAM)])
    assert not err
    found = dict(re.findall(r"user_program\.py:(\d+): error: .*\[([\w-]+)\]", out))
    expected = {
        str(number): line.rpartition("# error: ")[2]
        for number, line in enumerate(PROGRAM.read_text().splitlines(), start=1)
        if "  # error: " in line
    }
    assert found == expected, out
