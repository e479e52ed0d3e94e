from collections.abc import Sequence
from os import PathLike
from typing import Literal, Protocol, final

class _ArrowStream(Protocol):
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

_Key = Cache | Dataset | bytes | bytearray

@final
class Vm:
    """Hashes inputs with a key on some threads; by default, on one."""

    def __new__(cls, key: _Key, *, version: int = 1, threads: int | None = 1) -> Vm: ...
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
class Checkpoint:
    """A trusted chain up to a block, as far as the rules need it to judge the blocks after it.

    Anyone who can change a stored checkpoint chooses the chain that is accepted.
    """

    def __new__(
        cls,
        *,
        height: int,
        id: bytes | bytearray,
        work: int,
        recent: Sequence[tuple[int, int]],
        seeds: Sequence[tuple[int, bytes | bytearray]],
    ) -> Checkpoint: ...
    @staticmethod
    def genesis(network: str = "mainnet") -> Checkpoint:
        """Returns the start of a network's chain.

        Only on `regtest` can the next blocks be checked: elsewhere they are from before RandomX, and
        refused.
        """
    @property
    def height(self) -> int:
        """The height of the last block."""
    @property
    def id(self) -> bytes:
        """Its id."""
    @property
    def work(self) -> int:
        """The sum of difficulties up to it; 0 if it is unknown."""
    @property
    def recent(self) -> list[tuple[int, int]]:
        """The timestamps and difficulties of the last 735 blocks, the oldest first."""
    @property
    def seeds(self) -> list[tuple[int, bytes]]:
        """The heights and ids of the blocks whose ids are keys of the next blocks."""
    @property
    def is_complete(self) -> bool:
        """Whether the difficulties and keys of the next blocks follow from it."""
    def __eq__(self, other: object) -> bool: ...

@final
class Work:
    """A proof of work to check: the requirements that a block must meet."""

    @property
    def seed_hash(self) -> bytes:
        """The RandomX key."""
    @property
    def hashing_blob(self) -> bytes:
        """The RandomX input."""
    @property
    def difficulty(self) -> int:
        """The difficulty that the hash must meet."""

@final
class Check:
    """A check of a block, of one rule."""

    @property
    def name(self) -> str: ...
    @property
    def passed(self) -> bool | None:
        """`None` if the check was not made."""
    @property
    def detail(self) -> str:
        """The values that were compared, as a sentence."""

@final
class Verdict:
    """The verdict on a block."""

    @property
    def status(self) -> Literal["valid", "unproven", "update-needed", "invalid"]: ...
    @property
    def is_accepted(self) -> bool:
        """Whether later blocks can follow this one: it is valid, or unproven."""
    @property
    def height(self) -> int:
        """The height that the block has in the chain."""
    @property
    def id(self) -> bytes | None:
        """The block's id, if it could be parsed."""
    @property
    def hash(self) -> bytes | None:
        """The hash, if it was computed."""
    @property
    def difficulty(self) -> int | None:
        """The difficulty that the block had to meet, if it came to that."""
    @property
    def work(self) -> int:
        """The chain's work up to this block."""
    @property
    def complete_start(self) -> bool:
        """Whether the chain began with a complete and plausible checkpoint."""
    @property
    def transaction_ids(self) -> list[bytes]:
        """The hashes of the block's transactions, the miner's first."""
    @property
    def checks(self) -> list[Check]:
        """All checks, in a fixed order."""

@final
class Chain:
    """Checks a chain block by block, by the rules that need the blocks before.

    It begins after a checkpoint, or with the block at a height. In the second case, keys and
    difficulties are trusted until enough blocks are known. Push blocks, hash what each returns, and
    settle them in the same order. Up to 1024 blocks can wait for their hashes.
    """

    def __new__(
        cls,
        start: Checkpoint | int,
        *,
        network: str = "mainnet",
        fixed_difficulty: int | None = None,
        allow_incomplete: bool = False,
    ) -> Chain: ...
    @property
    def next_height(self) -> int:
        """The height of the block to push next."""
    @property
    def pending(self) -> int:
        """The number of blocks that wait to be settled."""
    def push(
        self,
        block: bytes | bytearray | None = None,
        *,
        hashing_blob: bytes | bytearray | None = None,
        id: bytes | bytearray | None = None,
        height: int | None = None,
        seed_hash: bytes | bytearray | None = None,
        difficulty: int | None = None,
        now: int | None = None,
    ) -> Work | None:
        """Checks the next block: a whole one, or its hashing blob.

        Returns the hash to compute, or `None` if the block is refused whatever its hash. `id`,
        `height`, `seed_hash` and `difficulty` are what the block's source says. `now` is in seconds
        since 1970; by default, this machine's clock.
        """
    def settle(self, hash: bytes | bytearray | None = None) -> Verdict:
        """Returns the verdict on the first block that waits, by its hash.

        Without a hash its proof of work is not checked. A refused block ends the chain.
        """
    def checkpoint(self) -> Checkpoint | None:
        """Returns the chain up to the last block whose own proof of work was checked.

        After a refused block, or without such a block, it is the checkpoint with which the chain began.
        None if there is neither.
        """

@final
class VerifiedTable:
    """A table whose rows are verified while they are read. It can be read once."""

    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

def hash(key: _Key, data: bytes | bytearray, *, version: int = 1) -> bytes:
    """Returns the hash of an input. Bytes as key are expanded for this call alone."""

def hash_many(
    key: _Key,
    inputs: Sequence[bytes | bytearray],
    *,
    version: int = 1,
    threads: int | None = None,
) -> list[bytes]:
    """Returns the hashes of inputs, in order; by default, on all processors."""

def verify(
    key: _Key, hashing_blob: bytes | bytearray, difficulty: int, *, version: int = 1
) -> bool:
    """Whether the hash of a hashing blob meets a difficulty."""

def calculate_commitment(data: bytes | bytearray, hash: bytes | bytearray) -> bytes:
    """Returns the commitment to an input and its hash."""

def verify_table(
    data: _ArrowStream, *, threads: int | None = None, blocks: bool = False
) -> VerifiedTable:
    """Returns a table with the columns `pow_hash`, `valid` and `reason` besides its own.

    The rows need `seed_hash`, `hashing_blob`, and `difficulty` or `target`. They are verified, and
    returned, in batches of up to 65,536. A stream that fails, or has nulls in the place of rows, ends
    the table with an error. So does Ctrl-C: the reader then raises an error of its own, because the interface
    passes texts only. After an error, each further read is an error. One reader at a time gets rows: for another thread,
    or a signal handler, reading meanwhile is an error. With `blocks`, blocks of Monero's main network from before
    RandomX are neither valid nor invalid, if their `height` says so too. Nor are blocks of versions that this release
    does not know, if their rows have no `version`.

    The interface does not pass the lengths of memory. The lengths that a table names are trusted, and so is the last
    offset of each part of a column, also in a slice. A row whose key, view or other offset points out of them is
    invalid. If they are wrong, as in a damaged Arrow file (Feather, IPC), the process can crash, or give verdicts on
    other memory. For a file of others, call pyarrow's `table.validate(full=True)` before.
    """

def seed_height(height: int) -> int:
    """Returns the height of the block whose id is the key at a height."""

def block_id(hashing_blob: bytes | bytearray) -> bytes:
    """Returns the id of the block with a hashing blob."""

def meets_difficulty(hash: bytes | bytearray, difficulty: int) -> bool:
    """Whether a hash meets a difficulty."""

def difficulty_after(
    timestamps: Sequence[int], cumulative_difficulties: Sequence[int], *, target: int = 120
) -> int | None:
    """Returns the difficulty of the block after others.

    These are the last 735 blocks in order, or all of a shorter chain without its genesis block, which
    Monero leaves out. More are refused. `cumulative_difficulties` has the sums of difficulties up to
    each of them.
    """

def median_timestamp(last: Sequence[int]) -> int:
    """Returns the median of the last 60 timestamps, which a block's must not be before."""

def tree_hash(hashes: Sequence[bytes | bytearray]) -> bytes:
    """Returns the root of the tree over transaction hashes, the miner's first."""

class _StoredFile(Protocol):
    """An open file of a storage. pyarrow's files are such."""

    def size(self) -> int: ...
    def read_at(self, nbytes: int, offset: int) -> bytes:
        """Reads up to 4 MiB. Long values are read in several calls."""

class _Storage(Protocol):
    """Where the files of an audit are.

    An `Exception` of a method becomes an `OSError` that names the file. Others, such as
    `KeyboardInterrupt`, pass unchanged.
    """

    def list(self, path: str) -> list[str] | None:
        """Returns the names of all files and subfolders, or `None` if the path is a file."""
    def open(self, path: str) -> _StoredFile:
        """Opens a file. Raises `FileNotFoundError` if there is none."""
    def put(self, source: str, path: str) -> None:
        """Makes a file of this machine appear under a path: all of it at once.

        An empty file may appear before, and stay if the process is killed.
        """

@final
class Audit:
    """An audit of an input into a folder, planned by this process. `randomx_web.audit` uses it.

    Blocks of a version before RandomX are neither valid nor invalid if `network` had such a version at
    their heights. Nor are blocks of versions that this release does not know.
    """

    def __new__(
        cls,
        input: str | PathLike[str],
        output: str | PathLike[str],
        *,
        lines: bool = False,
        first: int | None = None,
        last: int | None = None,
        network: str = "mainnet",
        reads: _Storage | None = None,
        writes: _Storage | None = None,
    ) -> Audit: ...
    @property
    def epochs(self) -> int:
        """The number of epochs."""
    @property
    def memory(self) -> int:
        """The bytes of memory that the rows of an epoch take."""
    @property
    def left_out(self) -> int:
        """The number of rows that a range leaves out because they have no height."""
    def left(self) -> list[tuple[str, bytes]]:
        """Returns the epochs that are not done: their names, and jobs for `audit_epoch`."""
    def finish(self) -> tuple[int, str, str | None]:
        """Writes the summary.

        Returns the number of invalid rows, the summary as text, and why some rows have no verdict.
        """

def audit_epoch(
    job: bytes | bytearray,
    *,
    threads: int | None = 1,
    reads: _Storage | None = None,
    writes: _Storage | None = None,
) -> bool:
    """Audits an epoch, and writes its file. Returns whether that was left to do.

    Signals are handled meanwhile. If a handler raises, as that of Ctrl-C does, the epoch is left to do.
    """

def printable(text: str) -> str:
    """Escapes characters that control a terminal or reorder text."""
