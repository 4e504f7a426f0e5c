"""The reasons of a refusal: what each means, and what to do about it, for the docs and the commands."""

from pathlib import Path

import msgspec
import yaml

from ingress_manager.core.errors import Reason


class Meaning(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a reason means, and what to do about it: a sentence or two each."""

    meaning: str
    remedy: str


REASONS = msgspec.convert(
    yaml.safe_load(Path(__file__).with_name("reasons.yaml").read_text(encoding="utf-8")), dict[Reason, Meaning]
)
"""By the reason: that of each, in alphabetical order."""
