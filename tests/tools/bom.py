"""What the image and a release hold, as CycloneDX says it."""


def is_cyclonedx(text: str) -> bool:
    """Return whether a text is CycloneDX 1.6 as JSON, with nothing in it that CycloneDX doesn't know."""
    # With them comes jsonschema, which makes expressions for two seconds: in each process, if they stood above.
    from cyclonedx.schema import SchemaVersion  # noqa: PLC0415
    from cyclonedx.validation.json import JsonStrictValidator  # noqa: PLC0415

    return JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
