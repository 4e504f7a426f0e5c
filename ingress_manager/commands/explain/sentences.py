"""The reasons in a sentence: what `kubectl describe` shows, pasted whole, with the words around it, or wrapped."""

import re

from ingress_manager.commands.audit.kinds import FindingKind
from ingress_manager.core.errors import Reason

OF_KUBERNETES = (
    (FindingKind.NAME_TAKEN, "isintheway"),
    (FindingKind.MISSING, "exceededquota|denied(the)?request|synchookfailed|can'treconcile"),
)
"""What sentences without a word of ours are about. Where a line was wrapped isn't known: they have no space."""


def words_in(text: str) -> list[str]:
    """Return the words of the reasons that a text tells, each once; none where it tells of nothing that is known."""
    text = re.sub(r"\s+", "", text)
    stated = [word for word in re.findall(r"\[([a-z-]+)\]", text) if word in {*Reason, *FindingKind}]
    return list(dict.fromkeys(stated)) or [word for word, phrase in OF_KUBERNETES if re.search(phrase, text)][:1]
