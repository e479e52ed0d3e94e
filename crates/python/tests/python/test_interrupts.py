"""Interrupts of audits that several threads use."""

import subprocess
import sys
import threading
from pathlib import Path

from randomx_web import _native
from stores import Store, audited, write_rows


def test_a_thread_made_the_audit_that_ctrl_c_interrupts(tmp_path: Path) -> None:
    source, output = tmp_path / "rows.parquet", tmp_path / "audit"
    write_rows(source, [b"value"])
    assert audited(source, output, Store()) == 1
    result = output / "epoch-0000000000.parquet"
    content = result.read_bytes()
    with result.open("wb") as file:
        # A long hole, which is read too, comes before the result.
        file.seek(256 << 30)
        file.write(content)
    code = (
        "import signal, sys, threading; from randomx_web import _native\n"
        "signal.signal(signal.SIGALRM, signal.default_int_handler)\n"
        "plans = []\n"
        "make = lambda: plans.append(_native.Audit(sys.argv[1], sys.argv[2]))\n"
        "thread = threading.Thread(target=make)\n"
        "thread.start(); thread.join()\n"
        "for work in (plans[0].left, plans[0].finish):\n"
        "    signal.setitimer(signal.ITIMER_REAL, 0.5)\n"
        "    try: work()\n"
        "    except KeyboardInterrupt: print('interrupted', flush=True)"
    )
    arguments = [sys.executable, "-c", code, str(source), str(output)]
    run = subprocess.run(arguments, capture_output=True, text=True, timeout=60)
    assert run.stdout == "interrupted\ninterrupted\n", run.stderr


class Torn(Store):
    """Interrupts one thread at each call."""

    interrupted: threading.Thread | None = None

    def call(self) -> None:
        if threading.current_thread() is self.interrupted:
            raise KeyboardInterrupt("of this thread")


def test_a_thread_gets_no_interrupt_of_another_one(tmp_path: Path) -> None:
    source, output = tmp_path / "rows.parquet", tmp_path / "audit"
    write_rows(source, [b"value"])
    store = Torn()
    plan = _native.Audit(str(source), str(output), reads=store, writes=store)
    ends: dict[str, set[str]] = {"interrupted": set(), "other": set()}

    def work(name: str) -> None:
        for _ in range(2000):
            try:
                plan.left()
                ends[name].add("done")
            except BaseException as problem:
                ends[name].add(type(problem).__name__)

    threads = [threading.Thread(target=work, args=(name,)) for name in ends]
    store.interrupted = threads[0]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(before)
    assert ends == {"interrupted": {"KeyboardInterrupt"}, "other": {"done"}}
