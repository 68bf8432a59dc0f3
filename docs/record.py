"""Records a part of `thinkback demo` as docs/images/demo.svg, line by line: python docs/record.py."""

import io
import re
import tempfile
import warnings
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI

import thinkback
from thinkback.apps import demo

TARGET = Path(__file__).parent / "images" / "demo.svg"
WIDTH = 104
FIRST, STEP = 0.4, 0.12  # seconds before the first line, and between two


def record() -> str:
    """The recording as SVG: a question, an explained answer, and a forgetting."""
    console = Console(record=True, width=WIDTH, highlight=False, file=io.StringIO())
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", thinkback.ThinkbackWarning)
        with thinkback.open(Path(folder) / "memory.db") as memory:
            records = demo.remember(memory)
            demo.ask(memory, console, demo.QUESTIONS[0])
            demo.ask(memory, console, demo.QUESTIONS[2])
            demo.forget(memory, console, records)
    return animated(console.export_svg(title="thinkback demo", theme=MONOKAI, unique_id="demo"))


def animated(svg: str) -> str:
    """Lines appear one after the other; where motion is not wanted, all at once."""
    rows = sorted({float(y) for y in re.findall(r'<text class="demo-[^"]*" x="[^"]*" y="([^"]*)"', svg)})
    at = {y: FIRST + STEP * row for row, y in enumerate(rows)}

    def delayed(found: re.Match[str]) -> str:
        when = at.get(float(found[3]))
        return (
            found[0]
            if when is None
            else f'{found[1]} style="animation-delay:{when:.2f}s" x="{found[2]}" y="{found[3]}"'
        )

    svg = re.sub(r'(<text class="demo-[^"]*") x="([^"]*)" y="([^"]*)"', delayed, svg)
    appear = "g.demo-matrix text { opacity: 0; animation: demo-in 0.01s linear forwards; }"
    style = (
        f"@media (prefers-reduced-motion: no-preference) {{ {appear} @keyframes demo-in {{ to {{ opacity: 1; }} }} }}"
    )
    # Nothing is loaded from elsewhere: fonts are those of the reader.
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    return svg.replace("<style>", f"<style>\n    {style}", 1).replace(
        '<g class="demo-matrix">', '<g class="demo-matrix">'
    )


if __name__ == "__main__":
    TARGET.write_text(record(), encoding="utf-8")
