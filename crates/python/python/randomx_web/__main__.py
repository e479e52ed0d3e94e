"""The commands of `python -m randomx_web`."""

import sys

from . import audit


def main() -> int:
    """Runs the command that the arguments name."""
    if sys.argv[1:2] == ["audit"]:
        return audit.main(sys.argv[2:])
    print("usage: python -m randomx_web audit [--help]", file=sys.stderr)
    return audit.UNUSABLE


sys.exit(main())
