"""The Arrow kernel with the libraries that people use."""

import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import duckdb
import pandas
import polars
import pyarrow
import pytest
import randomx_web as randomx
from stores import sigint_after
from vectors import shares


def columns(count: int) -> dict[str, list[Any]]:
    some = shares()[:count]
    names = ["seed_hash", "hashing_blob", "difficulty"]
    return {"number": list(range(count))} | {name: [s[name] for s in some] for name in names}


def expected(count: int) -> list[bytes]:
    return [share["pow_hash"] for share in shares()[:count]]


def test_pyarrow() -> None:
    table = pyarrow.table(columns(12))
    verified = pyarrow.table(randomx.verify_table(table, threads=2))
    assert verified.column_names == [*table.column_names, "pow_hash", "valid", "reason"]
    assert verified.select(table.column_names) == table
    assert verified["pow_hash"].to_pylist() == expected(12)
    assert verified["pow_hash"].type == pyarrow.binary(32)
    assert verified["valid"].to_pylist() == [True] * 12
    assert verified["reason"].null_count == 12


def test_polars_duckdb_and_pandas() -> None:
    data = columns(4)
    frame = polars.DataFrame(data)
    verified = polars.DataFrame(randomx.verify_table(frame, threads=2))
    assert verified["pow_hash"].to_list() == expected(4)
    relation = duckdb.from_arrow(pyarrow.table(data))
    verified = pyarrow.table(randomx.verify_table(relation, threads=2))
    assert verified["pow_hash"].to_pylist() == expected(4)
    table = pyarrow.RecordBatchReader.from_stream(randomx.verify_table(frame, threads=2))
    rows = duckdb.from_arrow(table).aggregate("count(*), bool_and(valid)").fetchall()
    assert rows == [(4, True)]
    verified = pyarrow.table(randomx.verify_table(pandas.DataFrame(data), threads=2))
    assert verified["pow_hash"].to_pylist() == expected(4)


def test_duckdb_asks_for_the_schema_first() -> None:
    table = pyarrow.table(columns(4))
    for query in ["count(*), bool_and(valid)", "sum(valid::int), max(number) >= 3"]:
        verified = randomx.verify_table(table, threads=2)
        relation = duckdb.sql(f"SELECT {query} FROM verified")
        assert relation is not None and relation.fetchall() == [(4, True)]
    verified = randomx.verify_table(table, threads=2)
    schema = pyarrow.schema(verified)
    assert schema.names == [*table.column_names, "pow_hash", "valid", "reason"]
    read = pyarrow.table(verified)
    assert read.schema == schema == pyarrow.schema(verified)
    assert read["pow_hash"].to_pylist() == expected(4)


def test_rows_are_verified_while_they_are_read() -> None:
    batches = pyarrow.table(columns(6)).to_batches(max_chunksize=2)
    taken = []

    def source() -> Iterator[pyarrow.RecordBatch]:
        for number, batch in enumerate(batches):
            taken.append(number)
            yield batch

    stream = pyarrow.RecordBatchReader.from_batches(batches[0].schema, source())
    table = randomx.verify_table(stream, threads=1)
    reader = pyarrow.RecordBatchReader.from_stream(table)
    assert taken == []
    for number in range(3):
        batch = reader.read_next_batch()
        assert taken == list(range(number + 1))
        assert batch["pow_hash"].to_pylist() == expected(6)[2 * number : 2 * number + 2]
    with pytest.raises(ValueError, match="was read already"):
        pyarrow.table(table)


def test_the_interpreter_runs_meanwhile() -> None:
    table = randomx.verify_table(polars.DataFrame(columns(150)), threads=1)
    reading = threading.Thread(target=pyarrow.table, args=(table,))
    reading.start()
    turns = 0
    while reading.is_alive():
        time.sleep(0.001)
        turns += 1
    assert turns > 20


@pytest.mark.parametrize("case", ["one batch", "many batches", "no hashes"])
def test_ctrl_c_ends_the_reading(case: str) -> None:
    some = shares()[0]
    names = ["seed_hash", "hashing_blob", "difficulty"]
    table = pyarrow.table({name: [some[name]] * 5000 for name in names})
    batches = table.to_batches()
    if case == "many batches":
        batches = [batches[0].slice(0, 1)] * 5000
    elif case == "no hashes":
        nulls = pyarrow.nulls(1, batches[0].schema.field("seed_hash").type)
        batches = [batches[0].slice(0, 1).set_column(0, "seed_hash", nulls)] * 200_000
    batched = pyarrow.Table.from_batches(batches)
    # Rows without a hash take microseconds.
    seconds = 0.5 if case == "no hashes" else 2
    start = time.monotonic()
    with sigint_after(seconds), pytest.raises(pyarrow.ArrowInvalid, match="KeyboardInterrupt"):
        pyarrow.table(randomx.verify_table(batched, threads=1))
    assert time.monotonic() - start < 12
    assert pyarrow.table(randomx.verify_table(table.slice(0, 3)))["valid"].to_pylist() == [True] * 3


def test_an_exception_with_a_zero_in_its_text() -> None:
    def stop(*_: object) -> None:
        raise ValueError("the deadline\0 has passed")

    before = signal.signal(signal.SIGALRM, stop)
    some = shares()[0]
    names = ["seed_hash", "hashing_blob", "difficulty"]
    table = pyarrow.table({name: [some[name]] * 5000 for name in names})
    try:
        signal.setitimer(signal.ITIMER_REAL, 2)
        with pytest.raises(pyarrow.ArrowInvalid, match="ValueError: the deadline\ufffd has passed"):
            pyarrow.table(randomx.verify_table(table, threads=1))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_texts_that_are_no_utf_8_have_reasons() -> None:
    some = shares()[0]
    # pyarrow does not check the texts of a Parquet file either.
    offsets, values = pyarrow.array([b"0\xff\xf0"]).buffers()[1:]
    text = pyarrow.Array.from_buffers(pyarrow.string(), 1, [None, offsets, values])
    good = {name: [some[name]] for name in ["seed_hash", "hashing_blob", "difficulty"]}
    digits = 'expected an even number of hexadecimal digits, got "0\ufffd\ufffd"'
    reasons = {
        "seed_hash": f"seed_hash: {digits}",
        "hashing_blob": f"hashing_blob: {digits}",
        "difficulty": "difficulty: expected only decimal digits (no sign, fraction or exponent)",
    }
    for name, reason in reasons.items():
        verified = pyarrow.table(randomx.verify_table(pyarrow.table(good | {name: text})))
        assert verified["valid"].to_pylist() == [False]
        assert verified["reason"].to_pylist() == [reason]
    # A column that is not verified comes back as it was.
    verified = pyarrow.table(randomx.verify_table(pyarrow.table(good | {"pool": text})))
    assert verified["valid"].to_pylist() == [True]
    assert verified["pool"].cast("binary").to_pylist() == [b"0\xff\xf0"]


def test_garbage_has_reasons() -> None:
    data = columns(3)
    data["seed_hash"][0] = None
    data["hashing_blob"][1] = None
    data["difficulty"] = [1, 2, None]
    verified = pyarrow.table(randomx.verify_table(pyarrow.table(data)))
    assert verified["valid"].to_pylist() == [False] * 3
    assert verified["reason"].to_pylist() == [
        "seed_hash: expected 32 bytes, got null",
        "hashing_blob: expected bytes, got null",
        "difficulty: expected a value, got null",
    ]


def test_wrong_tables() -> None:
    with pytest.raises(TypeError, match="__arrow_c_stream__"):
        randomx.verify_table([1])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="valid: expected no column of this name"):
        randomx.verify_table(pyarrow.table({"valid": [True]}))
    with pytest.raises(Exception, match="seed_hash: expected a column of this name"):
        pyarrow.table(randomx.verify_table(pyarrow.table({"x": [1]})))

    class Liar:
        def __init__(self, stream: object) -> None:
            self.stream = stream

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return self.stream

    expected = "^data: expected a capsule arrow_array_stream from __arrow_c_stream__, got"
    with pytest.raises(ValueError, match=f"{expected} one of another name$"):
        randomx.verify_table(Liar(pyarrow.schema([]).__arrow_c_schema__()))
    with pytest.raises(TypeError, match=f"{expected} int$"):
        randomx.verify_table(Liar(7))
    taken = pyarrow.table({}).__arrow_c_stream__()
    pyarrow.RecordBatchReader._import_from_c_capsule(taken)
    with pytest.raises(ValueError, match="^data: .*expected a stream, got one that was released$"):
        randomx.verify_table(Liar(taken))
