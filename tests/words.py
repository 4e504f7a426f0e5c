"""What is told, without the words of the libraries that read YAML and JSON: another version may have others."""

import re


def ours(text: str) -> str:
    """Return `text` with … in the place of why a library can't read something."""
    return re.sub(r"(is not (?:YAML|JSON): )(?!it holds |but found another )[^(\n]*[^( \n]", r"\1…", text)
