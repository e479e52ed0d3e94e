"""The command line."""

import subprocess
import sys

import pytest
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


@pytest.mark.parametrize("option", ["--from", "--to", "--threads", "--retries"])
def test_numbers_of_any_length(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    places = ["--ray", "local", "--input", "x", "--output", "y"]
    for text in ["9" * 5000, "1" + "0" * 5000, "-1", "", "٣"]:
        with pytest.raises(SystemExit) as exit:
            audit.parser().parse_args([*places, f"{option}={text}"])
        assert exit.value.code == audit.UNUSABLE
        last = capsys.readouterr().err.splitlines()[-1]
        assert f"argument {option}: expected " in last and len(last) < 200
    found = audit.parser().parse_args([*places, f"{option}={'0' * 5000}7"])
    assert 7 in vars(found).values()
