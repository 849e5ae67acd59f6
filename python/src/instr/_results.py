"""What calls of the package end with."""

# What start() returns beside 0.
NOT_RECORDED = -1
REFUSED = -2


class Unavailable(RuntimeError):
    """The hooks cannot be set: another tool has them."""


class ToolError(RuntimeError):
    """The command `instr` is not there, or refused what it was asked for; the text is its own."""
