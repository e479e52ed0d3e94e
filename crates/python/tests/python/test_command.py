"""The command line, and the names of arguments in its errors."""

import subprocess
import sys
from pathlib import Path

import pytest
from randomx_web import _ray, audit
from randomx_web._storage import Place


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


def test_the_function_names_arguments_and_the_command_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = [
        ("ftp://x/y", str(tmp_path), "mainnet", "input: expected a path, or an address of s3"),
        (str(tmp_path), "ftp://x/y", "mainnet", "output: expected a path, or an address of s3"),
        ("s3:/a", str(tmp_path), "mainnet", "input: expected an address with s3://"),
        (str(tmp_path), str(tmp_path), "main", "network: expected mainnet, "),
    ]
    for source, output, network, mention in cases:
        with pytest.raises(ValueError, match=f"^{mention}"):
            audit.audit(source, output, network=network)
        arguments = ["--ray", "local", "--input", source, "--output", output]
        assert audit.main([*arguments, "--network", network]) == audit.UNUSABLE
        assert capsys.readouterr().err.startswith(f"error: --{mention}")


@pytest.mark.parametrize(
    "source, shown",
    [
        ("ftp://me:secret@x/y", "ftp://***@x/y"),
        ("s3:/me:secret@b/x", "s3:/***@b/x"),
        ("s3://me:secret@b/x", "s3://***@b/x"),
        ("s3://me:se/cret@b/x", "s3://***@b/x"),
        ("s3://me:sec%ret@b/x", "s3://***@b/x"),
        ("s3://me:s@secret@b/x\n", "s3://***@b/x\\n"),
        ("s3://me:s?cret@b/x", "s3://***"),
        ("https://x/y?sv=1&sig=secret", "https://x/y?***"),
        ("abfs://me:secret@x/y%?client_secret=secret", "abfs://***@x/y%?***"),
        ("https://x:443/y?email=a@b&sig=secret", "https://***"),
        ("s3://b/me@home:secrets", None),
    ],
)
def test_messages_show_no_secrets(
    source: str, shown: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    place = Place("input", source)
    assert place.shown() == (source if shown is None else shown.replace("\\n", "\n"))
    arguments = ["--ray", "local", "--input", source, "--output", f"{source.rstrip()}/audit"]
    assert audit.main(arguments) == audit.UNUSABLE
    errors = capsys.readouterr().err
    assert (shown or source) in errors
    assert shown is None or "secret" not in errors and "cret@" not in errors


@pytest.mark.parametrize(
    "arguments, named",
    [
        (["s3://me:secret@b/x"], "unrecognized arguments: s3://***"),
        (["abfs://x/y?sig=secret", "z"], "unrecognized arguments: abfs://***"),
        (["--inputs=s3://me:sec ret@b/x"], "unrecognized arguments: --inputs=s3://***"),
        (
            ["--from", "s3://me:secret@b/x"],
            "argument --from: expected 0 to 500000000, got 's3://***",
        ),
        (["s3://b/x"], "unrecognized arguments: s3://b/x"),
    ],
)
def test_an_address_in_place_of_another_argument_shows_no_secrets(
    arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    required = ["--ray", "local", "--input", "x", "--output", "y"]
    with pytest.raises(SystemExit) as exit:
        audit.parser().parse_args([*required, *arguments])
    assert exit.value.code == audit.UNUSABLE
    assert capsys.readouterr().err.endswith(f" error: {named}\n")


def test_a_traceback_shows_no_login() -> None:
    with pytest.raises(ValueError, match=r"^input: .*s3://\*\*\*@b/x") as problem:
        Place.named("input", "s3://me:sec%ret@b/x").split()
    # The error of pyarrow has the address as it was given.
    assert problem.value.__cause__ is None and problem.value.__suppress_context__


def test_messages_do_not_control_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "a\x1b[2J\u202eb\n\udcff.parquet"
    arguments = ["--ray", "local", "--input", str(source), "--output", str(tmp_path / "audit")]
    assert audit.main(arguments) == audit.UNUSABLE
    errors = capsys.readouterr().err
    assert "a\\u{1b}[2J\\u{202e}b\\n" in errors and len(errors.splitlines()) == 1
    assert not set("\x1b\u202e").intersection(errors)


def test_a_bug_is_printed_in_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def panic(*_: object, **__: object) -> None:
        raise BaseException("a\x1b[2J")

    monkeypatch.setattr(audit, "_audit", panic)
    places = ["--input", str(tmp_path), "--output", str(tmp_path / "audit")]
    assert audit.main(["--ray", "local", *places]) == audit.UNUSABLE
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-1] == "BaseException: a\\u{1b}[2J"


def test_closed_streams(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(audit, "_audit", lambda *_, **__: audit.Result(0, "the result"))
    arguments = ["--ray", "local", "--input", str(tmp_path), "--output", str(tmp_path / "audit")]
    with monkeypatch.context() as context:
        context.setattr(sys, "stdout", None)
        assert audit.main(arguments) == audit.UNUSABLE
    assert capsys.readouterr().err.startswith("error: cannot write the result: ")
    with monkeypatch.context() as context:
        context.setattr(sys, "stderr", None)
        assert audit.fail("no place for this") == audit.UNUSABLE
        assert audit.main(arguments) == audit.VALID
    assert capsys.readouterr().out == "the result"


def test_the_names_of_options_in_texts() -> None:
    assert audit.as_option("first: expected less") == "--from: expected less"
    assert audit.as_option("last: expected more") == "--to: expected more"
    for text in ["memory: expected more", "a.parquet: cannot read it", "input", "Ray: input: x"]:
        assert audit.as_option(text) == text


def test_a_cluster_without_processors() -> None:
    assert str(_ray.unfit([], 1, 1)).startswith("threads: expected at most 0, ")
