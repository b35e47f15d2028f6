"""What bad input raises: one line that names the value, the constraint and the remedy."""


class BadInputError(ValueError):
    """A value outside its constraint.  The command line turns it into one line and exit code 2."""

    def __init__(self, name: str, value: object, constraint: str, remedy: str) -> None:
        super().__init__(f"{name} must be {constraint}, got {_brief(value)}; {remedy}")


class BadTypeError(BadInputError, TypeError):
    """A value of the wrong type or dtype; also a TypeError, as Python callers expect."""


def _brief(value: object, limit: int = 80) -> str:
    """A printable form on one line, shortened: an error must stay readable for any input."""
    text = " ".join(repr(value).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"
