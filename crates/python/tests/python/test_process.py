"""The process in which the command audits, with a module in Ray's place that ends it or waits."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import randomx_web
from made import chain, write
from randomx_web import _process, audit

#: Seconds that a test waits for something.
PATIENCE = 120.0

#: Ends the process as Ray's code in C++ does.
ENDS = "import os; os._exit(1)"

#: Is killed, as for want of memory.
KILLED = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"

#: Answers SIGTERM as Ray does in the process that connects to a cluster.
EXITS = "import signal, sys; signal.signal(signal.SIGTERM, lambda number, _: sys.exit(number))"

#: Makes each process ignore signals that it sends itself, as the first one of a container does.
FIRST_PROCESS = """
import os
def kill(process, number, kill=os.kill):
    if process != os.getpid():
        kill(process, number)
os.kill = kill
"""

#: Waits for a signal. The first interrupt is answered slowly.
WAITS = """
import os, time
def write(name, text=""):
    with open(os.environ["NOTES"] + "/" + name, "a") as file:
        file.write(text)
write("process", str(os.getpid()))
try:
    write("begun")
    time.sleep(600)
except KeyboardInterrupt:
    write("interrupts", "x")
    time.sleep(1)
    write("ended")
    raise
"""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[str], "subprocess.Popen[str]"]]:
    """Starts an audit, in a group of processes of its own, with code in Ray's place."""
    source = tmp_path / "chain.parquet"
    write(source, chain(1, 2), 9)
    started: list[subprocess.Popen[str]] = []

    def run(code: str) -> "subprocess.Popen[str]":
        fake = tmp_path / "modules/ray"
        fake.mkdir(parents=True, exist_ok=True)
        (fake / "__init__.py").write_text(code)
        environment = {"PYTHONPATH": str(fake.parent), "NOTES": str(tmp_path)}
        places = ["--input", str(source), "--output", str(tmp_path / "audit")]
        process = subprocess.Popen(
            [sys.executable, "-m", "randomx_web", "audit", "--ray", "x", *places],
            env=os.environ | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def wait_for(what: str, condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"no {what} after {PATIENCE} s"
        time.sleep(0.01)


def has_ended(process: int) -> bool:
    try:
        os.kill(process, 0)
        # One that nobody waits for.
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_an_end_by_ray_is_no_verdict(start: Callable[[str], "subprocess.Popen[str]"]) -> None:
    run = start(ENDS)
    text, errors = run.communicate(timeout=PATIENCE)
    ended = "the audit's process ended with exit code 1; Ray ends it if the cluster's head is lost"
    assert (run.returncode, text, errors) == (audit.UNUSABLE, "", f"error: {ended}\n")


def test_other_ends_name_no_cause(start: Callable[[str], "subprocess.Popen[str]"]) -> None:
    ends = [(ENDS.replace("1", "3"), "with exit code 3"), (KILLED, f"by signal {signal.SIGKILL:d}")]
    for code, how in ends:
        run = start(code)
        text, errors = run.communicate(timeout=PATIENCE)
        assert (run.returncode, text) == (audit.UNUSABLE, "")
        assert errors == f"error: the audit's process ended {how}\n"


def test_a_process_that_cannot_start_has_no_verdict(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "missing"))
    arguments = ["--ray", "x", "--input", "y", "--output", "z"]
    assert _process.run(arguments) == audit.UNUSABLE
    text, errors = capsys.readouterr()
    assert text == "" and errors.startswith("error: cannot start the audit's process: ")
    assert len(errors.splitlines()) == 1 and "missing" in errors


@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize("first_process", [False, True])
def test_signals_end_the_first_process_of_a_container(
    start: Callable[[str], "subprocess.Popen[str]"],
    tmp_path: Path,
    twice: bool,
    first_process: bool,
) -> None:
    if first_process:
        (tmp_path / "modules").mkdir()
        (tmp_path / "modules/sitecustomize.py").write_text(FIRST_PROCESS)
    # A second signal does not wait for the answer to the first one.
    run = start(WAITS.replace("sleep(1)", "sleep(600)") if twice else WAITS)
    wait_for("second process", (tmp_path / "begun").exists)
    worker = int((tmp_path / "process").read_text())
    run.send_signal(signal.SIGINT)
    if twice:
        wait_for("interrupt", (tmp_path / "interrupts").exists)
        run.send_signal(signal.SIGINT)
    text, errors = run.communicate(timeout=PATIENCE)
    code = 128 + signal.SIGINT if first_process else -signal.SIGINT
    assert (run.returncode, text) == (code, ""), errors
    assert "error: " not in errors
    wait_for("end of the second process", lambda: has_ended(worker))


@pytest.mark.parametrize("ray", ["", EXITS])
def test_the_signal_that_ends_the_second_process_ends_the_first(
    start: Callable[[str], "subprocess.Popen[str]"], tmp_path: Path, ray: str
) -> None:
    run = start(ray + WAITS.replace("sleep(1)", "sleep(600)"))
    wait_for("second process", (tmp_path / "begun").exists)
    run.send_signal(signal.SIGINT)
    wait_for("interrupt", (tmp_path / "interrupts").exists)
    run.send_signal(signal.SIGTERM)
    text, errors = run.communicate(timeout=PATIENCE)
    assert (run.returncode, text) == (-signal.SIGTERM, ""), errors
    assert "error: " not in errors


@pytest.mark.parametrize(
    "end, how",
    [(ENDS.replace("1", "3"), "with exit code 3"), (KILLED, f"by signal {signal.SIGKILL:d}")],
)
def test_another_end_after_a_signal_is_an_error(
    start: Callable[[str], "subprocess.Popen[str]"], tmp_path: Path, end: str, how: str
) -> None:
    run = start(WAITS.replace("raise", end))
    wait_for("second process", (tmp_path / "begun").exists)
    run.send_signal(signal.SIGINT)
    text, errors = run.communicate(timeout=PATIENCE)
    assert (run.returncode, text) == (audit.UNUSABLE, "")
    assert errors == f"error: the audit's process ended {how}\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("both", [False, True])
def test_a_signal_ends_both_processes(
    start: Callable[[str], "subprocess.Popen[str]"], tmp_path: Path, number: int, both: bool
) -> None:
    run = start(WAITS)
    wait_for("second process", (tmp_path / "begun").exists)
    worker = int((tmp_path / "process").read_text())
    assert worker != run.pid and run.poll() is None
    if both:
        os.killpg(run.pid, number)
    else:
        run.send_signal(number)
    text, errors = run.communicate(timeout=PATIENCE)
    assert (run.returncode, text) == (-number, ""), errors
    wait_for("end of the second process", lambda: has_ended(worker))
    if number == signal.SIGINT:
        # A terminal interrupts both. The second process is not interrupted again by the first.
        assert (tmp_path / "interrupts").read_text() == "x"
        assert (tmp_path / "ended").exists()
        assert errors.rstrip().endswith("KeyboardInterrupt")


def test_a_package_that_cannot_be_imported_has_no_verdict(tmp_path: Path) -> None:
    package = tmp_path / "randomx_web"
    package.mkdir()
    for name in ("__init__.py", "__main__.py", "audit.py"):
        shutil.copy(Path(randomx_web.__file__).with_name(name), package)
    cases = [
        (["-m", "randomx_web", "audit"], 2),
        (["-m", "randomx_web.audit"], 2),
        (["-m", "randomx_web.__main__", "audit"], 2),
        (["-mrandomx_web", "audit"], 2),
        (["-Bmrandomx_web.audit"], 2),
        (["-c", "import randomx_web", "randomx_web"], 1),
    ]
    for arguments, code in cases:
        program = [sys.executable, *arguments]
        run = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True)
        assert (run.returncode, run.stdout) == (code, "")
        assert "ModuleNotFoundError: No module named 'randomx_web._native'" in run.stderr
