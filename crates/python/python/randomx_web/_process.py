"""Runs audits in a process of their own. Ray ends one that loses its cluster with exit code 1, which is a verdict."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import NoReturn

from . import audit

#: Marks the environment of the process that works.
MARK = "RANDOMX_WEB_AUDITS"

#: The command's exit codes.
RESULTS = (audit.VALID, audit.NOT_VALID, audit.UNUSABLE)

#: What the worker adds to its result. Neither Python nor Ray uses these exit codes.
OFFSET = 100


def run(arguments: Sequence[str]) -> int:
    """Runs the command in a process that begins like this one, and returns the command's exit code.

    If a forwarded signal ends the process, ends this one with the same signal. If the process ends
    otherwise without an exit code of the command, prints how and returns `UNUSABLE`. `--help` and
    unusable arguments exit before the process starts.
    """
    audit.parser().parse_args(arguments)
    if os.environ.pop(MARK, None):
        return work(arguments)
    program = [sys.executable, *sys.orig_argv[1:]]
    try:
        # The other process ends when its input does, however this one ends.
        worker = subprocess.Popen(program, stdin=subprocess.PIPE, env=os.environ | {MARK: "1"})
    except OSError as problem:
        return audit.fail(f"cannot start the audit's process: {problem}")
    with worker:
        received = forward_signals(worker)
        code = worker.wait()
    if code - OFFSET in RESULTS:
        return code - OFFSET
    # Ray answers SIGTERM by an exit with its number.
    if abs(code) in received:
        return end_by_signal(abs(code))
    how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
    hint = "; Ray ends it if the cluster's head is lost" if code == 1 else ""
    return audit.fail(f"the audit's process ended {how}{hint}")


def work(arguments: Sequence[str]) -> int:
    """Runs the command in this process, and returns its exit code plus `OFFSET`."""
    threading.Thread(target=end_with_parent, daemon=True).start()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt_once)
    return OFFSET + audit.main(arguments)


def forward_signals(worker: "subprocess.Popen[bytes]") -> list[int]:
    """Passes the first signal of each kind on to a process. The second one ends this process.

    Returns a list to which each signal is added.
    """
    received: list[int] = []

    def forward(number: int, _: object) -> None:
        if number in received:
            os._exit(end_by_signal(number))
        received.append(number)
        # Windows sends Ctrl-C to both processes, and has no other way.
        if os.name != "nt" or number != signal.SIGINT:
            worker.send_signal(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, forward)
    return received


def end_by_signal(number: int) -> int:
    """Ends this process by a signal. If that has no effect, returns the exit code that shells give such an end.

    The first process of a container ignores signals that it has no handlers for.
    """
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    return 128 + number


def interrupt_once(_number: int, _: object) -> NoReturn:
    """Handles Ctrl-C. A terminal sends it to both processes, so that this one may receive it twice."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


def end_with_parent() -> None:
    """Ends this process with the one that started it."""
    # Not through `sys.stdin`, whose lock this thread would keep while Python ends.
    while os.read(0, 1):
        pass
    os._exit(audit.UNUSABLE)
