"""The commands of `python -m randomx_web`."""

import sys

from . import _process, audit


def main() -> int:
    """Runs the command that the arguments name."""
    if sys.argv[1:2] == ["audit"]:
        return _process.run(sys.argv[2:])
    is_question = sys.argv[1:] in (["--help"], ["-h"])
    usage = "usage: python -m randomx_web audit [--help]"
    print(usage, file=sys.stdout if is_question else sys.stderr)
    return audit.VALID if is_question else audit.UNUSABLE


sys.exit(main())
