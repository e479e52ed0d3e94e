"""Tables that signal handlers and other threads read or close while they are read."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import pyarrow
import pytest
import randomx_web as randomx
from vectors import shares

NAMES = ["seed_hash", "hashing_blob", "difficulty"]

#: The start of a program whose handler runs while a reader computes the first of two parts. The second part has
#: another key.
START = """
import signal
import pyarrow
import randomx_web as randomx
from vectors import shares

NAMES = ["seed_hash", "hashing_blob", "difficulty"]
some = shares()[0]
rows = {name: [some[name]] for name in NAMES}
first, second = ({name: rows[name] * 100 for name in NAMES} for _ in range(2))
second["seed_hash"] = [bytes(32)] * 100
table = pyarrow.concat_tables([pyarrow.table(first), pyarrow.table(second)])
reader = pyarrow.RecordBatchReader.from_stream(randomx.verify_table(table, threads=1))

def attempt(work):
    try:
        return work()
    except Exception as problem:
        print(f"{type(problem).__name__}: {problem}", flush=True)

def begin(handler):
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2)

def check(batch):
    print(batch["pow_hash"].to_pylist() == [some["pow_hash"]] * 100, flush=True)
"""

BUSY = "data: the table is being read already"


def output_of(code: str) -> list[str]:
    """Runs the program in a process of its own, which may crash."""
    arguments = [sys.executable, "-c", START + code]
    folder = Path(__file__).parent
    run = subprocess.run(arguments, capture_output=True, text=True, timeout=300, cwd=folder)
    assert run.returncode == 0, (run.returncode, run.stdout, run.stderr)
    return run.stdout.splitlines()


def test_a_handler_reads_the_table_that_is_read() -> None:
    lines = output_of("""
begin(lambda *_: attempt(reader.read_next_batch))
check(reader.read_next_batch())
# The handler took no rows.
batch = reader.read_next_batch()
print(batch["seed_hash"].to_pylist() == [bytes(32)] * 100)
print(batch["pow_hash"].to_pylist() == [randomx.hash(bytes(32), some["hashing_blob"])] * 100)
attempt(reader.read_next_batch)
""")
    assert lines[0].startswith("ArrowInvalid: ") and BUSY in lines[0]
    assert lines[1:] == ["True", "True", "True", "StopIteration: "]


def test_a_handler_reads_another_table() -> None:
    """pyarrow releases the interpreter's lock for it, inside a call that has the lock."""
    lines = output_of("""
other = pyarrow.table({name: [None] for name in NAMES})
other = pyarrow.RecordBatchReader.from_stream(randomx.verify_table(other))

def read(*_):
    print(other.read_next_batch()["valid"].to_pylist(), flush=True)

begin(read)
check(reader.read_next_batch())
""")
    assert lines == ["[False]", "True"]


def test_a_handler_closes_the_table_that_is_read() -> None:
    lines = output_of("""
begin(lambda *_: reader.close())
check(reader.read_next_batch())
attempt(reader.read_next_batch)
""")
    assert lines[0] == "True" and len(lines) == 2
    assert "closed" in lines[1]


def test_a_handler_closes_the_table_and_raises() -> None:
    lines = output_of("""
def stop(*_):
    reader.close()
    raise ValueError("the deadline has passed")

begin(stop)
attempt(reader.read_next_batch)
attempt(reader.read_next_batch)
""")
    assert lines[0].startswith("ArrowInvalid: ") and len(lines) == 2
    assert "ValueError: the deadline has passed" in lines[0]
    assert "closed" in lines[1]


def test_a_source_closes_the_table_that_reads_it() -> None:
    lines = output_of("""
def source():
    reader.close()
    yield pyarrow.record_batch(first)

stream = pyarrow.RecordBatchReader.from_batches(table.schema, source())
reader = pyarrow.RecordBatchReader.from_stream(randomx.verify_table(stream))
check(reader.read_next_batch())
""")
    assert lines == ["True"]


def test_threads_read_a_table() -> None:
    """Each batch goes to one thread. A thread that comes meanwhile gets an error."""
    some = shares()[:32]
    keys = [some[0]["seed_hash"], bytes(32)]
    batches = [
        pyarrow.record_batch(
            {name: [share[name] for share in some[start : start + 8]] for name in NAMES}
        )
        for start in range(0, 32, 8)
    ]
    # Every second batch has another key.
    for number, batch in enumerate(batches):
        seeds = pyarrow.array([keys[number % 2]] * 8)
        batches[number] = batch.set_column(0, "seed_hash", seeds)
    table = pyarrow.Table.from_batches(batches)
    expected = pyarrow.table(randomx.verify_table(table, threads=1))
    reader = pyarrow.RecordBatchReader.from_stream(randomx.verify_table(table, threads=1))
    found: list[pyarrow.RecordBatch] = []
    problems: list[str] = []

    def read() -> None:
        while True:
            try:
                found.append(reader.read_next_batch())
            except StopIteration:
                return
            except pyarrow.ArrowInvalid as problem:
                problems.append(str(problem))
                time.sleep(0.01)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems and all(BUSY in problem for problem in problems)
    hashes = [batch["pow_hash"].to_pylist() for batch in found]
    assert sorted(hashes) == sorted(
        expected["pow_hash"].slice(start, 8).to_pylist() for start in range(0, 32, 8)
    )


def test_a_table_is_closed_while_another_thread_reads_it() -> None:
    some = shares()[0]
    table = pyarrow.table({name: [some[name]] * 100 for name in NAMES})
    reader = pyarrow.RecordBatchReader.from_stream(randomx.verify_table(table, threads=1))
    found: list[pyarrow.RecordBatch] = []
    thread = threading.Thread(target=lambda: found.append(reader.read_next_batch()))
    thread.start()
    time.sleep(0.1)
    reader.close()
    thread.join()
    # The thread may have come too late.
    assert all(batch["pow_hash"].to_pylist() == [some["pow_hash"]] * 100 for batch in found)


def test_a_stream_fails_with_the_codes_of_arrow() -> None:
    table = randomx.verify_table(pyarrow.table({"x": [1]}))
    reader = pyarrow.RecordBatchReader.from_stream(table)
    with pytest.raises(pyarrow.ArrowInvalid, match="^External error: seed_hash: expected a column"):
        reader.read_next_batch()
    # The table does not look like one that has ended.
    again = "data: an earlier read failed: External error: seed_hash: expected a column"
    for _ in range(2):
        with pytest.raises(pyarrow.ArrowInvalid, match=again):
            reader.read_next_batch()


def test_no_rows_are_lost_after_an_interrupt() -> None:
    lines = output_of("""
def stop(*_):
    raise ValueError("the deadline has passed")

begin(stop)
attempt(lambda: list(reader))
attempt(lambda: list(reader))
""")
    assert len(lines) == 2 and all("ValueError: the deadline has passed" in line for line in lines)
    assert "data: an earlier read failed: " in lines[1]
