"""Storages in Python, rows for them, and Ctrl-C."""

import os
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet
from randomx_web import _native


class Store:
    """This machine's files, with an error at a call after some others."""

    def __init__(self, before: int = 1 << 30, error: BaseException | None = None) -> None:
        self.before = before
        self.error = error
        #: The most bytes that were read at a time.
        self.longest = 0

    @property
    def has_failed(self) -> bool:
        return self.before < 0

    def call(self) -> None:
        self.before -= 1
        if self.before == -1 and self.error is not None:
            raise self.error

    def list(self, path: str) -> list[str] | None:
        self.call()
        return os.listdir(path) if os.path.isdir(path) else None

    def open(self, path: str) -> "File":
        self.call()
        return File(self, Path(path).read_bytes())

    def put(self, source: str, path: str) -> None:
        self.call()
        os.makedirs(os.path.dirname(path), exist_ok=True)
        shutil.copyfile(source, path)


class File:
    """An open file of a store."""

    def __init__(self, store: Store, content: bytes) -> None:
        self.store = store
        self.content = content

    def size(self) -> int:
        return len(self.content)

    def read_at(self, nbytes: int, offset: int) -> bytes:
        self.store.call()
        self.store.longest = max(self.store.longest, nbytes)
        return self.content[offset : offset + nbytes]


def write_rows(path: Path, values: list[bytes]) -> None:
    """Writes rows of one epoch that need no hash: they have no seed hash."""
    count = len(values)
    columns = {
        "height": pyarrow.array([7] * count, pyarrow.uint64()),
        "seed_hash": pyarrow.nulls(count, pyarrow.binary(32)),
        "hashing_blob": pyarrow.array([b""] * count),
        "difficulty": pyarrow.array([1] * count),
        "value": pyarrow.array(values),
    }
    table = pyarrow.table(columns)
    parquet.write_table(table, path, use_dictionary=False, compression="none")


def audited(source: Path, output: Path, store: Store) -> int:
    """Audits an input through a store, and returns the number of invalid rows."""
    lines = source.suffix == ".jsonl"
    plan = _native.Audit(str(source), str(output), lines=lines, reads=store, writes=store)
    for _, job in plan.left():
        assert _native.audit_epoch(job, reads=store, writes=store)
    return plan.finish()[0]


@contextmanager
def sigint_after(seconds: float) -> Iterator[None]:
    """Presses Ctrl-C after some time, unless the block has ended."""
    timer = threading.Timer(seconds, os.kill, [os.getpid(), signal.SIGINT])
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def ctrl_c(seconds: float, within: float = 30) -> Iterator[None]:
    """Presses Ctrl-C after some time, which must end the block within another."""
    start = time.monotonic()
    with sigint_after(seconds), pytest.raises(KeyboardInterrupt):
        yield
    assert time.monotonic() - start < within
