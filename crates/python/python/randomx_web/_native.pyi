from collections.abc import Sequence
from typing import Protocol, final

class ArrowStream(Protocol):
    """A table: of pyarrow, polars, pandas or DuckDB, for example."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class Cache:
    """A key, expanded to 256 MiB. Several VMs can share it."""

    def __new__(cls, key: bytes | bytearray) -> Cache: ...

@final
class Dataset:
    """A key, expanded to 2080 MiB, for faster hashes."""

    def __new__(cls, cache: Cache, *, threads: int | None = None) -> Dataset: ...

Key = Cache | Dataset | bytes | bytearray

@final
class Vm:
    """Hashes inputs with a key on some threads; by default, on one."""

    def __new__(cls, key: Key, *, version: int = 1, threads: int | None = 1) -> Vm: ...
    def hash(self, data: bytes | bytearray) -> bytes:
        """Returns the hash of an input."""

    def hash_many(self, inputs: Sequence[bytes | bytearray]) -> list[bytes]:
        """Returns the hashes of inputs, in order."""

    @property
    def threads(self) -> int:
        """The number of threads."""

@final
class Block:
    """A block of Monero, parsed from its blob."""

    def __new__(cls, blob: bytes | bytearray) -> Block: ...
    @property
    def height(self) -> int:
        """The height in the miner transaction."""
    @property
    def id(self) -> bytes:
        """The block's id."""
    @property
    def previous_id(self) -> bytes:
        """The id of the block before it."""
    @property
    def major_version(self) -> int: ...
    @property
    def minor_version(self) -> int: ...
    @property
    def timestamp(self) -> int:
        """Seconds since 1970."""
    @property
    def nonce(self) -> int: ...
    @property
    def hashing_blob(self) -> bytes:
        """The bytes that RandomX hashes."""
    @property
    def transaction_ids(self) -> list[bytes]:
        """The hashes of all transactions, the miner's first."""

@final
class VerifiedTable:
    """A table whose rows are verified while they are read. It can be read once."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

def hash(key: Key, data: bytes | bytearray, *, version: int = 1) -> bytes:
    """Returns the hash of an input. Bytes as key are expanded for this call alone."""

def hash_many(
    key: Key,
    inputs: Sequence[bytes | bytearray],
    *,
    version: int = 1,
    threads: int | None = None,
) -> list[bytes]:
    """Returns the hashes of inputs, in order; by default, on all processors."""

def verify(
    key: Key, hashing_blob: bytes | bytearray, difficulty: int, *, version: int = 1
) -> bool:
    """Whether the hash of a hashing blob meets a difficulty."""

def calculate_commitment(data: bytes | bytearray, hash: bytes) -> bytes:
    """Returns the commitment to an input and its hash."""

def verify_table(
    data: ArrowStream, *, threads: int | None = None, blocks: bool = False
) -> VerifiedTable:
    """Returns a table with the columns `pow_hash`, `valid` and `reason` besides its own.

    The rows need `seed_hash`, `hashing_blob`, and `difficulty` or `target`. With `blocks`, blocks of
    Monero from before RandomX are neither valid nor invalid.
    """

def seed_height(height: int) -> int:
    """Returns the height of the block whose id is the key at a height."""

def block_id(hashing_blob: bytes | bytearray) -> bytes:
    """Returns the id of the block with a hashing blob."""

def meets_difficulty(hash: bytes, difficulty: int) -> bool:
    """Whether a hash meets a difficulty."""

def difficulty_after(
    timestamps: Sequence[int], cumulative_difficulties: Sequence[int], *, target: int = 120
) -> int | None:
    """Returns the difficulty of the block after up to 735 others, the oldest first.

    `cumulative_difficulties` has the sums of difficulties up to each of them.
    """

def median_timestamp(last: Sequence[int]) -> int:
    """Returns the median of the last 60 timestamps, which a block's must not be before."""

def tree_hash(hashes: Sequence[bytes]) -> bytes:
    """Returns the root of the tree over transaction hashes, the miner's first."""
