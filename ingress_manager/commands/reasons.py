"""The reasons of a refusal: what to do about each, for the docs and the commands."""

from pathlib import Path

import msgspec
import yaml

from ingress_manager.core.errors import Reason

REASONS = msgspec.convert(
    yaml.safe_load(Path(__file__).with_name("reasons.yaml").read_text(encoding="utf-8")), dict[Reason, str]
)
"""What to do, in some sentences, by the reason, in alphabetical order."""
