"""The reasons of a refusal: what to do about each, for the docs and the commands."""

from pathlib import Path

import msgspec

from ingress_manager.core.errors import Reason

REASONS = msgspec.yaml.decode(Path(__file__).with_name("reasons.yaml").read_bytes(), type=dict[Reason, str])
"""What to do, in some sentences, by the reason, in alphabetical order."""
