"""Audits proofs of work on a cluster that runs Ray. In a clone, `pip install './crates/python[ray]'` installs Ray.

Usage: `python -m randomx_web audit --ray ADDRESS --input chain/ --output audit/`
"""

import argparse
import errno
import os
import re
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from os import PathLike, fspath
from typing import NoReturn, TextIO

from ._native import Audit, printable
from ._storage import Place

#: The exit codes of `randomx audit`.
VALID, NOT_VALID, UNUSABLE = 0, 1, 2

#: The shortest time between two lines about the progress, in seconds.
PAUSE = 10.0

#: The fewest and the most threads of a task, and times that one is tried again.
THREADS = (1, 1024)
RETRIES = (0, 1000)

#: The options of arguments.
OPTIONS = {
    "input": "--input",
    "output": "--output",
    "first": "--from",
    "last": "--to",
    "network": "--network",
    "ray": "--ray",
    "threads": "--threads",
    "retries": "--retries",
}

DESCRIPTION = """\
Verifies every proof of work of a chain or a list on a cluster that runs Ray, one task an epoch.
The input, the result and its bytes are those of `randomx audit`, which can go on with a folder of
this command and the other way round."""

NOTES = """\
input and output:
  A path that all machines of the cluster have, such as that of a file server, or an address like
  s3://bucket/folder. Parquet files, or JSON lines if the name ends in .jsonl or .ndjson. The Parquet files of a
  folder must have the same columns in the same order, and names that end in .parquet. Files whose names begin
  with . or _ may have other names. With --from or --to, rows without a height are
  left out, also malformed ones; stderr has their number.

Blocks of a version before RandomX are neither valid nor invalid if --network had such a version at
their heights. Blocks of a version that this release does not know have no verdict, unless their row
has a version of RandomX: update the package, and run the same command again.

Rows are not compared: a proof of work that is listed twice counts twice.

Each file is written when its epoch is complete. To resume an interrupted run, run the same command
again. An object store has no locks: let one command at a time write to a folder.

exit codes:
  0  every proof of work is valid
  1  at least one is not valid
  2  unusable arguments or input, no memory, a failure of Ray or the loss of its head, no verdict on
     blocks whose version is not known, or the result could not be printed; what was done stays done

examples:
  python -m randomx_web audit --ray auto --input /nfs/chain --output /nfs/audit
  ray job submit -- python -m randomx_web audit --ray auto --input s3://b/chain --output s3://b/audit"""


@dataclass(frozen=True)
class Result:
    """What an audit found. `summary.json` in the output says more."""

    #: The number of rows that are not valid.
    invalid: int
    #: The summary, as `randomx audit` prints it.
    text: str
    #: Why some rows have no verdict, if they are blocks of versions that this release does not know.
    unjudged: str | None = None


def audit(
    input: str | PathLike[str],
    output: str | PathLike[str],
    *,
    first: int | None = None,
    last: int | None = None,
    network: str = "mainnet",
    ray: str | None = None,
    threads: int = 1,
    retries: int = 5,
) -> Result:
    """Audits an input on a cluster, one task an epoch.

    `ray` is the cluster's address, to which this process is connected meanwhile; by default, it is
    connected to one already. Each task hashes on `threads` processors. An epoch whose process or
    machine was lost, that found no memory, or whose files could not be read or written, is tried up
    to `retries` times again. Raises RuntimeError if Ray fails. If no machine of the cluster
    fits a task, a line on stderr says why, and the run waits for one. With `first` or `last`, rows
    without a height are left out, and a line on stderr has their number. Blocks of a version before
    RandomX are neither valid nor invalid if `network` had such a version at their heights. Nor are
    blocks of versions that this release does not know.

    If the head of the cluster is lost, Ray's code in C++ ends this process with exit code 1 after a
    minute. Run it in a process of its own if the caller must go on. The command does.
    """
    return _audit(
        input,
        output,
        first=first,
        last=last,
        network=network,
        ray=ray,
        threads=threads,
        retries=retries,
        named=str,
    )


def _audit(
    input: str | PathLike[str],
    output: str | PathLike[str],
    *,
    first: int | None,
    last: int | None,
    network: str,
    ray: str | None,
    threads: int,
    retries: int,
    named: Callable[[str], str],
) -> Result:
    """The function `audit`. `named` changes the names of arguments in lines on stderr."""
    for name, given, (least, most) in (
        ("threads", threads, THREADS),
        ("retries", retries, RETRIES),
    ):
        if not least <= given <= most:
            raise ValueError(f"{name}: expected {least} to {most}, got {given}")
    arguments = (("input", input), ("output", output))
    places = [Place.named(argument, fspath(place)) for argument, place in arguments]
    if places[1].is_in(places[0]):
        expected = f"expected a folder outside the input {places[0].shown()}"
        got = f"got {places[1].shown()}, which later runs would refuse as a subfolder"
        raise ValueError(f"output: {expected}, {got}")
    (reads, source), (writes, target) = (place.split() for place in places)
    lines = source.lower().endswith((".jsonl", ".ndjson"))
    plan = Audit(
        source,
        target,
        lines=lines,
        first=first,
        last=last,
        network=network,
        reads=reads,
        writes=writes,
    )
    try:
        _print_left_out(plan.left_out)
        jobs = plan.left()
        progress = _Progress(plan.epochs, len(jobs), named)
        if jobs:
            from . import _ray

            with _ray.plain_errors(), _ray.connected(ray):
                _ray.run(
                    jobs,
                    reads=places[0],
                    writes=places[1],
                    threads=threads,
                    rows_memory=plan.memory,
                    retries=retries,
                    # No machine joins a local cluster.
                    waiting=None if ray == "local" else progress.waiting,
                    report=progress.epoch,
                )
        return Result(*plan.finish())
    finally:
        # Unlocks the folder. The traceback of an error would keep this frame, and the plan in it.
        del plan


def _print_left_out(rows: int) -> None:
    """Says how many rows have no verdict because of the range."""
    if rows:
        left_out = "row without a height is" if rows == 1 else "rows without a height are"
        reason = "a range chooses rows by their heights"
        _print_message(f"{rows} {left_out} left out: {reason}")


class _Progress:
    """Lines on stderr about a run."""

    def __init__(self, epochs: int, left: int, named: Callable[[str], str]) -> None:
        self._named = named
        self._epochs = epochs
        self._begun = epochs - left
        self._done = self._begun
        self._start = self._printed = time.monotonic()

    def waiting(self, reason: str) -> None:
        _print_message(f"waiting for a machine that fits a task: {self._named(reason)}")

    def epoch(self, _name: str) -> None:
        self._done += 1
        now = time.monotonic()
        if now - self._printed >= PAUSE:
            self._printed = now
            left = (now - self._start) / (self._done - self._begun) * (self._epochs - self._done)
            _print_message(f"{self._done} of {self._epochs} epochs, {left:.0f} s left")


def _height(text: str) -> int:
    return _number(text, 0, 500_000_000)


def _threads(text: str) -> int:
    return _number(text, *THREADS)


def _retries(text: str) -> int:
    return _number(text, *RETRIES)


def _number(text: str, least: int, most: int) -> int:
    # Python refuses to convert thousands of digits, zeros too.
    digits = text.lstrip("0") or text[:1]
    is_number = text.isascii() and text.isdigit() and len(digits) <= len(str(most))
    if not is_number or not least <= int(digits) <= most:
        raise argparse.ArgumentTypeError(f"expected {least} to {most}, got {text[:80]!r}")
    return int(digits)


def as_option(text: str) -> str:
    """Returns a text that begins with the name of an argument with that of its option instead."""
    name, separator, rest = text.partition(": ")
    return f"{OPTIONS[name]}: {rest}" if separator and name in OPTIONS else text


class _Parser(argparse.ArgumentParser):
    """A parser whose errors show no login and no query of an address, whichever argument it is in."""

    def error(self, message: str) -> NoReturn:
        super().error(re.sub(r":/.*[@?].*", "://***", message, flags=re.DOTALL))


def parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = _Parser(
        prog="python -m randomx_web audit",
        description=DESCRIPTION,
        epilog=NOTES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--ray",
        metavar="ADDRESS",
        required=True,
        help="the cluster: HOST:PORT, auto for the one of this machine, or local to start one here",
    )
    parser.add_argument("--input", metavar="PLACE", required=True, help="the rows")
    parser.add_argument(
        "--output", metavar="PLACE", required=True, help="the folder of the results"
    )
    parser.add_argument(
        "--from",
        dest="first",
        metavar="HEIGHT",
        type=_height,
        help="the first block; rows without a height are left out",
    )
    parser.add_argument(
        "--to",
        dest="last",
        metavar="HEIGHT",
        type=_height,
        help="the last block; rows without a height are left out",
    )
    parser.add_argument(
        "--network",
        metavar="NAME",
        default="mainnet",
        help="the blocks' network: mainnet, stagenet, testnet or regtest [default: mainnet]",
    )
    parser.add_argument(
        "--threads",
        metavar="N",
        type=_threads,
        default=1,
        help="the processors of each task, 1 to 1024 [default: 1]",
    )
    parser.add_argument(
        "--retries",
        metavar="N",
        type=_retries,
        default=5,
        help="further attempts at an epoch, 0 to 1000 [default: 5]",
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line in this process, and returns its exit code."""
    options = parser().parse_args(arguments)
    try:
        # Ray reports lost workers on stdout.
        with redirect_stdout(sys.stderr):
            result = _audit(
                options.input,
                options.output,
                first=options.first,
                last=options.last,
                network=options.network,
                ray=options.ray,
                threads=options.threads,
                retries=options.retries,
                named=as_option,
            )
    except ImportError as problem:
        return fail(f"{problem}; install Ray with `pip install './crates/python[ray]'` in a clone")
    except (MemoryError, OSError, ValueError, RuntimeError) as problem:
        return fail(as_option(str(problem)))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:
        # A bug, such as a panic in Rust. Python's exit code for it would be that of a verdict.
        for line in traceback.format_exc().rstrip("\n").split("\n"):
            _print_message(line)
        return UNUSABLE
    failure = _write(result.text, sys.stdout)
    # A reader that closed the pipe is no error.
    if failure and not isinstance(failure, BrokenPipeError):
        return fail(f"cannot write the result: {failure}")
    if result.unjudged:
        # A proof of work that is not valid is a verdict all the same.
        unusable = fail(result.unjudged)
        return NOT_VALID if result.invalid else unusable
    return NOT_VALID if result.invalid else VALID


def fail(problem: object) -> int:
    """Prints an error, and returns the exit code of one."""
    _print_message(f"error: {problem}")
    return UNUSABLE


def _print_message(line: str) -> None:
    """Prints a line on stderr, which may have text of the input, of Ray, or of an object store."""
    # Names of files may have surrogates, which Rust refuses.
    encodable = line.encode(errors="backslashreplace").decode()
    _write(printable(encodable) + "\n", sys.stderr)


def _write(text: str, stream: TextIO | None) -> OSError | None:
    """Writes a text at once, and returns why that failed. Python has no stream for a closed descriptor."""
    if stream is None:
        return OSError(errno.EBADF, os.strerror(errno.EBADF))
    try:
        print(text, end="", file=stream, flush=True)
    except OSError as problem:
        # Python writes the rest again at its end. A failure there would change the exit code.
        with open(os.devnull, "w") as null:
            os.dup2(null.fileno(), stream.fileno())
        return problem
    return None


if __name__ == "__main__":
    from . import _process

    sys.exit(_process.run(sys.argv[1:]))
