"""Made chains: every block links to the one before it, every key is the id of a block, and nobody
mined. With a difficulty of 2, half of the blocks are valid by chance."""

from pathlib import Path

import pyarrow
import randomx_web as randomx
from pyarrow import parquet

#: The blocks of a key.
EPOCH = 2048

#: The blocks between a key's block and the first that uses it.
LAG = 64


def varint(value: int) -> bytes:
    """Returns a number in Monero's format of variable length."""
    digits = bytearray()
    while value >= 0x80:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*digits, value])


def block(height: int, previous: bytes) -> bytes:
    """Returns a block of version 16 with only the miner's transaction."""
    header = bytes([16, 16]) + varint(1_700_000_000 + 120 * height) + previous + bytes(4)
    start = bytes([2]) + varint(height + 60) + bytes([1, 0xFF]) + varint(height)
    # One output of 1 to a tagged key, no extra, no signatures, no transactions.
    return header + start + bytes([1, 1, 3]) + bytes([7]) * 33 + bytes(3)


def chain(epochs: int, of_each: int, difficulty: int = 2) -> pyarrow.Table:
    """Returns the first blocks of each of the first epochs of a chain."""
    ids: list[bytes] = []
    rows: list[tuple[int, bytes, bytes, int, int]] = []
    for height in range((epochs - 1) * EPOCH + LAG + of_each + 1):
        parsed = randomx.Block(block(height, ids[-1] if ids else bytes(32)))
        ids.append(parsed.id)
        seed = randomx.seed_height(height)
        first = seed + LAG + 1 if seed else 1
        if first <= height < first + of_each:
            rows.append((height, ids[seed], parsed.hashing_blob, difficulty, len(rows)))
    names = ["height", "seed_hash", "hashing_blob", "difficulty", "number"]
    types = [pyarrow.uint64(), pyarrow.binary(32), pyarrow.binary(), pyarrow.uint64(), None]
    columns = zip(zip(*rows, strict=True), types, strict=True)
    arrays = [pyarrow.array(column, kind) for column, kind in columns]
    assert len(rows) == epochs * of_each
    return pyarrow.table(arrays, names)


def write(path: Path, table: pyarrow.Table, group: int) -> None:
    """Writes a table to a Parquet file with groups of this many rows."""
    parquet.write_table(table, path, row_group_size=group)
