"""Reading an envelope the way a strict client would: any line outside a quotation is an error."""


def read(envelope: str) -> list[tuple[str, str]]:
    """The texts and the headings above them."""
    lines = envelope.split("\n")
    mark = lines[0].split(" ")[0]
    assert mark.isalpha(), lines[0]
    assert lines.pop() == f"{mark} end"
    found: list[tuple[list[str], str]] = []
    for line in lines:
        if line.startswith("| "):
            found[-1][0].append(line[2:])
        else:
            assert line.startswith(f"{mark} data "), line
            found.append(([], line.removeprefix(f"{mark} data ")))
    return [("\n".join(text), heading) for text, heading in found]
