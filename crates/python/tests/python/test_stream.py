"""Tables by Arrow's C stream interface that are large, malformed, or fail."""

import ctypes
import struct
from collections.abc import Sequence
from typing import Any

import pyarrow
import pytest
import randomx_web as randomx
from vectors import shares

CAPSULE = b"arrow_array_stream"
NEXT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
TEXT = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Structure(ctypes.Structure):
    """`ArrowArrayStream` of the interface."""

    _fields_ = [
        ("get_schema", NEXT),
        ("get_next", NEXT),
        ("get_last_error", TEXT),
        ("release", RELEASE),
        ("private_data", ctypes.c_void_p),
    ]


class Silent:
    """A table that fails with a code and no message, at its schema or at its rows."""

    def __init__(self, *, schema: int, rows: int) -> None:
        def get_schema(_stream: int, out: int) -> int:
            if schema == 0:
                pyarrow.schema({"seed_hash": pyarrow.binary()})._export_to_c(out)
            return schema

        def release(stream: int) -> None:
            Structure.from_address(stream).release = RELEASE()

        self._stream = Structure(
            NEXT(get_schema), NEXT(lambda *_: rows), TEXT(lambda _: None), RELEASE(release), None
        )

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        new: Any = ctypes.pythonapi.PyCapsule_New
        new.restype = ctypes.py_object
        new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        capsule: object = new(ctypes.addressof(self._stream), CAPSULE, None)
        return capsule


def test_streams_that_fail_without_a_message() -> None:
    failing = Silent(schema=0, rows=5)
    table = randomx.verify_table(failing)
    with pytest.raises(ValueError, match="data: the stream failed with code 5 and no message"):
        pyarrow.table(table)
    with pytest.raises(ValueError, match="data: the stream failed with code 22 and no message"):
        randomx.verify_table(Silent(schema=22, rows=0))


def test_many_malformed_rows_are_verified_in_parts() -> None:
    count = 150_000
    seeds = pyarrow.DictionaryArray.from_arrays(
        pyarrow.array([0] * count, pyarrow.int32()), ["\x01" * 91]
    )
    blobs = pyarrow.DictionaryArray.from_arrays(
        pyarrow.array([0] * count, pyarrow.int8()), [b"blob"]
    )
    columns = {"number": list(range(count)), "seed_hash": seeds, "hashing_blob": blobs}
    table = pyarrow.table(columns | {"difficulty": [1] * count})
    reader = pyarrow.RecordBatchReader.from_stream(randomx.verify_table(table))
    batches = list(reader)
    assert [batch.num_rows for batch in batches] == [65_536, 65_536, 18_928]
    verified = pyarrow.Table.from_batches(batches)
    assert verified["number"].to_pylist() == columns["number"]
    assert verified["valid"].to_pylist() == [False] * count
    (reason,) = verified["reason"].unique().to_pylist()
    assert reason.startswith("seed_hash: expected an even number of hexadecimal digits, got")


def test_rows_that_are_null_are_refused() -> None:
    some = shares()[:3]
    names = ["seed_hash", "hashing_blob", "difficulty"]
    arrays = [pyarrow.array([share[name] for share in some]) for name in names]
    mask = pyarrow.array([False, False, True])
    rows = pyarrow.StructArray.from_arrays(arrays, names, mask=mask)
    table = randomx.verify_table(pyarrow.chunked_array([rows]))
    with pytest.raises(ValueError, match="data: expected no null rows, got 1"):
        pyarrow.table(table)
    # A part without them has its own rows.
    table = randomx.verify_table(pyarrow.chunked_array([rows.slice(1, 1)]))
    verified = pyarrow.table(table)
    assert verified["pow_hash"].to_pylist() == [some[1]["pow_hash"]]
    assert verified["valid"].to_pylist() == [True]


#: The reason of a value whose key, offsets or view point out of its column.
OUTSIDE = "expected a value inside the column's data, got one outside"


def from_offsets(offsets: Sequence[int], content: bytes, kind: pyarrow.DataType) -> pyarrow.Array:
    """An array of which pyarrow compares only the last offset with the content."""
    code = "q" if kind == pyarrow.large_binary() else "i"
    packed = pyarrow.py_buffer(struct.pack(f"{len(offsets)}{code}", *offsets))
    buffers = [None, packed, pyarrow.py_buffer(content)]
    return pyarrow.Array.from_buffers(kind, len(offsets) - 1, buffers)


def columns_outside() -> list[tuple[str, pyarrow.Array]]:
    """Columns whose first value is that of a share. Two more are outside."""
    seed, blob = (shares()[0][name] for name in ("seed_hash", "hashing_blob"))
    columns = []
    for name, value in [("seed_hash", seed), ("difficulty", 1), ("difficulty", "1")]:
        for key in (1, 127, -1):
            keys = pyarrow.array([0, key, key], pyarrow.int8())
            found = pyarrow.DictionaryArray.from_arrays(keys, [value], safe=False)
            columns.append((name, found))
    end = len(blob)
    for kind in (pyarrow.binary(), pyarrow.large_binary(), pyarrow.string()):
        content = blob.hex().encode() if kind == pyarrow.string() else blob
        for middle in (1 << 30, -(1 << 30)):
            found = from_offsets([0, len(content), middle, len(content)], content, kind)
            columns.append(("hashing_blob", found))
    good = struct.pack("<i4sii", end, blob[:4], 0, 0)
    for buffer, start in [(0, 1), (0, 1 << 30), (1, 0), (1 << 30, 0)]:
        views = pyarrow.py_buffer(good + 2 * struct.pack("<i4sii", end, blob[:4], buffer, start))
        buffers = [None, views, pyarrow.py_buffer(blob)]
        found = pyarrow.Array.from_buffers(pyarrow.binary_view(), 3, buffers)
        columns.append(("hashing_blob", found))
    return columns


def test_values_outside_their_columns_have_reasons() -> None:
    """pyarrow does not check them in files of Arrow either, unless `validate(full=True)` is called."""
    some = shares()[0]
    good = {name: [some[name]] * 3 for name in ["seed_hash", "hashing_blob", "difficulty"]}
    for name, column in columns_outside():
        table = pyarrow.table(good | {name: column})
        with pytest.raises(pyarrow.ArrowInvalid):
            table.validate(full=True)
        verified = pyarrow.table(randomx.verify_table(table))
        assert verified["valid"].to_pylist() == [True, False, False], column.type
        assert verified["reason"].to_pylist() == [None] + 2 * [f"{name}: {OUTSIDE}"]
