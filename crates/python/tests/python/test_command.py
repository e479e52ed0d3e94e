"""The command line."""

import subprocess
import sys

from randomx_web import audit


def command(*arguments: str) -> "subprocess.CompletedProcess[str]":
    program = [sys.executable, "-m", "randomx_web", *arguments]
    return subprocess.run(program, capture_output=True, text=True)


def test_help_is_printed_on_stdout() -> None:
    usage = "usage: python -m randomx_web audit [--help]\n"
    for option in ("--help", "-h"):
        run = command(option)
        assert (run.returncode, run.stdout, run.stderr) == (audit.VALID, usage, "")
    for wrong in [(), ("other",), ("other", "--help")]:
        run = command(*wrong)
        assert (run.returncode, run.stdout, run.stderr) == (audit.UNUSABLE, "", usage)
    run = command("audit", "--help")
    assert run.returncode == audit.VALID and run.stdout.startswith("usage: ")
