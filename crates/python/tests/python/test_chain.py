"""Monero's rules."""

import pytest
import randomx_web as randomx
from vectors import read


def test_blocks() -> None:
    for block in read("mainnet-blocks.json")["blocks"]:
        parsed = randomx.Block(bytes.fromhex(block["block_blob"]))
        assert parsed.height == block["height"]
        assert parsed.id.hex() == block["id"]
        assert parsed.previous_id.hex() == block["prev_id"]
        assert parsed.timestamp == block["timestamp"]
        assert parsed.nonce == block["nonce"]
        assert parsed.major_version == block["major_version"]
        assert parsed.hashing_blob.hex() == block["hashing_blob"]
        assert len(parsed.transaction_ids) == block["num_txes"] + 1
        root = randomx.tree_hash(parsed.transaction_ids)
        assert parsed.hashing_blob[43:75] == root
        assert randomx.block_id(parsed.hashing_blob) == parsed.id
        assert randomx.seed_height(parsed.height) == block["seed_height"]


def test_difficulties_follow_from_the_blocks_before() -> None:
    vectors = read("monero/difficulty.json")
    rows = vectors["rows"]
    timestamps: list[int] = []
    sums: list[int] = []
    total = 0
    for number, (timestamp, difficulty) in enumerate(rows[:1500]):
        if number:
            past = slice(max(0, number - 735), number)
            expected = randomx.difficulty_after(
                timestamps[past], sums[past], target=vectors["target"]
            )
            assert expected == int(difficulty), number
        total += int(difficulty)
        timestamps.append(timestamp)
        sums.append(total)
    assert randomx.difficulty_after([], []) == 1
    with pytest.raises(ValueError, match="expected 2 numbers, got 1"):
        randomx.difficulty_after([1, 2], [1])


def test_medians() -> None:
    assert randomx.median_timestamp(list(range(60))) == 29
    with pytest.raises(ValueError, match="expected 60 timestamps, got 1"):
        randomx.median_timestamp([1])


def test_malformed_blobs() -> None:
    with pytest.raises(ValueError, match="^blob: timestamp at byte 2"):
        randomx.Block(b"\x10\x10")
    with pytest.raises(ValueError, match="^hashing_blob: "):
        randomx.block_id(b"")
