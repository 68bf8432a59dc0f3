"""What to type about an error or a warning: the remedies of the engine in the words of the command line."""

from collections.abc import Mapping

from thinkback.errors import Action

WORDS: Mapping[Action, str] = {
    Action.LIST_MEMORIES: "`thinkback list` shows the ids.",
    Action.LIST_BATCHES: "`thinkback undo --list` shows the batches.",
    Action.EMBED_MISSING: "To embed them: thinkback embed --missing",
    Action.REEMBED: "To embed everything with the model in use: thinkback reembed",
    Action.REFLECT: "To write themes again: thinkback reflect",
    Action.AUDIT: "To list them: thinkback audit",
    Action.JUDGE: "Judge some answers first: thinkback judge record QUESTION ID",
    Action.CHOOSE_EMBEDDER: "To read it: thinkback reembed --embedder {subject}",
    Action.CHECK: "To see what is wrong: thinkback doctor. Otherwise restore a copy.",
    Action.REPAIR: "To repair it: thinkback doctor --repair",
    Action.SALVAGE: "Restore a backup, or save what can be read: thinkback salvage {subject} NEW",
    Action.RENEW_BACKUPS: "Make new ones with `thinkback backup` and delete the old: {subject}",
    Action.SKIP_BAD_LINES: "To leave bad lines out: --skip-bad",
    Action.PULL_MODEL: "To fetch it: thinkback models pull {subject}",
    Action.INSTALL_EXTRA: "To install it: pip install 'thinkback[{subject}]'",
}
