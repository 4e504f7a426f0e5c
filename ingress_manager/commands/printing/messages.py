"""Messages: what a person has to look at, one sentence each, with the place where it can be fixed."""

from dataclasses import dataclass

from ingress_manager.core.text import one_line


def counted(count: int, thing: str) -> str:
    """Return how many there are, as people write it: 1,000 Ingresses."""
    plural = "es" if thing.endswith("s") else "s"
    return f"{count:,} {thing}{'' if count == 1 else plural}"


@dataclass(frozen=True, slots=True)
class Message:
    """One sentence about an object, or about a file that can't be read."""

    sentence: str
    file: str = ""
    """Empty when the object comes from the cluster."""

    line: int = 0
    """Counted from 1; 0 when there is no file."""

    about: str = ""
    """The object, as namespace/name; empty when it is about the file."""

    reason: str = ""
    """The reason code of a refusal (ingress_manager.core.errors.Reason); empty for anything else."""

    def __str__(self) -> str:
        """Return the message as editors and CI know it: `file:line: namespace/name: sentence`."""
        place = f"{self.file}:{self.line}" if self.file else ""
        return one_line(": ".join(part for part in (place, self.about, self.told) if part))

    @property
    def told(self) -> str:
        """Return the sentence and, behind it, the reason's word, as the Event of a refusal has them."""
        return f"{self.sentence} [{self.reason}]" if self.reason else self.sentence
