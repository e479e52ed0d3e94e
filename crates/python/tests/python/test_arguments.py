"""Arguments: their names in errors, their limits and their types."""

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow
import pytest
import randomx_web as randomx
from randomx_web import _native
from vectors import shares


class Unbounded(Sequence[Any]):
    """A sequence without an end, whatever it says of its length."""

    def __init__(self, length: int, item: object) -> None:
        self.length = length
        self.item = item
        self.taken = 0

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: object) -> Any:
        self.taken += 1
        assert self.taken < 1000, "more items than the limit"
        return self.item


def test_longer_sequences_are_not_read() -> None:
    long = range(2**62)
    with pytest.raises(ValueError, match=rf"^last: expected 60 timestamps, got {2**62}$"):
        randomx.median_timestamp(long)
    with pytest.raises(ValueError, match=rf"^timestamps: expected at most 735, got {2**62}$"):
        randomx.difficulty_after(long, [])
    mention = rf"^cumulative_difficulties: expected 1 numbers, got {2**62}$"
    with pytest.raises(ValueError, match=mention):
        randomx.difficulty_after([1], long)


@pytest.mark.parametrize("length", [0, 60])
def test_sequences_that_lie_about_their_length(length: int) -> None:
    with pytest.raises(ValueError, match="^last: expected 60 timestamps, got 61$"):
        randomx.median_timestamp(Unbounded(length, 1))
    with pytest.raises(ValueError, match="^timestamps: expected at most 735, got 736$"):
        randomx.difficulty_after(Unbounded(length, 1), [])
    with pytest.raises(ValueError, match="^cumulative_difficulties: expected 0 numbers, got 736$"):
        randomx.difficulty_after([], Unbounded(length, 1))


def test_a_length_that_python_cannot_count() -> None:
    with pytest.raises(ValueError, match="^last: expected 60 timestamps, got 61$"):
        randomx.median_timestamp(range(2**64))

    class Broken(Unbounded):
        def __len__(self) -> int:
            raise KeyboardInterrupt("not an error of the argument")

    with pytest.raises(KeyboardInterrupt):
        randomx.median_timestamp(Broken(0, 1))


genesis = randomx.Checkpoint.genesis("regtest")
wrong: Any = 7


@pytest.mark.parametrize(
    ("call", "mention"),
    [
        (lambda: randomx.Chain(5, network=wrong), "network: expected str, got int"),
        (lambda: randomx.Checkpoint.genesis(wrong), "network: expected str, got int"),
        (lambda: _native.Audit("a", "b", network=wrong), "network: expected str, got int"),
        (lambda: _native.Audit("a", "b", lines=wrong), "lines: expected bool, got int"),
        (
            lambda: randomx.Chain(genesis, allow_incomplete=wrong),
            "allow_incomplete: expected bool, got int",
        ),
        (
            lambda: randomx.verify_table(pyarrow.table({}), blocks=wrong),
            "blocks: expected bool, got int",
        ),
        (lambda: randomx.Dataset(wrong), "cache: expected a Cache, got int"),
        (lambda: randomx.verify_table(wrong), "data: expected a table with the method"),
    ],
)
def test_errors_name_arguments_of_wrong_types(call: Callable[[], object], mention: str) -> None:
    # PyO3 itself would name them in notes only.
    with pytest.raises(TypeError, match=f"^{mention}"):
        call()


def test_a_network_that_is_no_text() -> None:
    with pytest.raises(ValueError, match="^network: expected str, got "):
        randomx.Checkpoint.genesis("\ud800")


def test_hashes_may_be_bytearrays() -> None:
    share = shares()[0]
    seed_hash, pow_hash = bytearray(share["seed_hash"]), bytearray(share["pow_hash"])
    assert randomx.meets_difficulty(pow_hash, share["difficulty"])
    assert randomx.tree_hash([seed_hash]) == share["seed_hash"]
    blob = share["hashing_blob"]
    commitment = randomx.calculate_commitment(blob, share["pow_hash"])
    assert randomx.calculate_commitment(blob, pow_hash) == commitment
    made = [
        randomx.Checkpoint(height=9, id=make(32), work=0, recent=[], seeds=[(0, make(32))])
        for make in (bytes, bytearray)
    ]
    assert made[0] == made[1]
    chain = randomx.Chain(3_000_000)
    work = chain.push(hashing_blob=blob, id=pow_hash, seed_hash=seed_hash, difficulty=1)
    assert work is None or work.seed_hash == share["seed_hash"]
    assert not chain.settle(pow_hash if work else None).is_accepted
    with pytest.raises(ValueError, match="^job: "):
        _native.audit_epoch(bytearray(b"{}"))


def test_classes_can_be_imported_from_their_modules() -> None:
    classes = [kind for kind in vars(_native).values() if isinstance(kind, type)]
    assert len(classes) == 11
    for kind in classes:
        module = importlib.import_module(kind.__module__)
        assert getattr(module, kind.__qualname__) is kind
