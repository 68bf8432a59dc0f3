"""One store a repository, beside the user's own.

A repository is found by its git common directory, so that all worktrees of a clone share its store. The store is in the user's data
folder, never in the repository.
"""

import hashlib
from pathlib import Path

REPOSITORIES = "repositories"


def repository_of(folder: Path) -> Path | None:
    """The git common directory of a folder; None outside of any repository."""
    start = folder.resolve()
    for place in (start, *start.parents):
        git = place / ".git"
        if git.is_dir():
            return git.resolve()
        if git.is_file():
            return _common(git) or git
    return None


def store_of(repository: Path, data_folder: Path) -> Path:
    """The file of a repository's store."""
    name = repository.parent.name if repository.name == ".git" else repository.name
    readable = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name)[:40] or "repository"
    mark = hashlib.sha256(str(repository).encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return data_folder / REPOSITORIES / f"{readable}-{mark}.db"


def _common(git: Path) -> Path | None:
    """The common directory that a worktree's `.git` file leads to, if that directory knows the worktree.

    A folder from a stranger may name any directory, and must not get at the memories of another repository.
    """
    try:
        line = git.read_text(encoding="utf-8").strip()
        private = (git.parent / line.removeprefix("gitdir:").strip()).resolve()
        known = (private / "gitdir").read_text(encoding="utf-8").strip()
        common = (private / "commondir").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return (private / common).resolve() if Path(known).resolve() == git.resolve() else None
