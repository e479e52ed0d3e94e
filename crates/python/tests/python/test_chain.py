"""Monero's rules."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
import randomx_web as randomx
from made import block
from vectors import read


def test_blocks() -> None:
    for known in read("mainnet-blocks.json")["blocks"]:
        parsed = randomx.Block(bytes.fromhex(known["block_blob"]))
        assert parsed.height == known["height"]
        assert parsed.id.hex() == known["id"]
        assert parsed.previous_id.hex() == known["prev_id"]
        assert parsed.timestamp == known["timestamp"]
        assert parsed.nonce == known["nonce"]
        assert parsed.major_version == known["major_version"]
        assert parsed.hashing_blob.hex() == known["hashing_blob"]
        assert len(parsed.transaction_ids) == known["num_txes"] + 1
        root = randomx.tree_hash(parsed.transaction_ids)
        assert parsed.hashing_blob[43:75] == root
        assert randomx.block_id(parsed.hashing_blob) == parsed.id
        assert randomx.seed_height(parsed.height) == known["seed_height"]


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
    # The rule would take the oldest blocks of these.
    with pytest.raises(ValueError, match="^timestamps: expected at most 735, got 736"):
        randomx.difficulty_after(timestamps[:736], sums[:736])


def test_medians() -> None:
    assert randomx.median_timestamp(list(range(60))) == 29
    with pytest.raises(ValueError, match="expected 60 timestamps, got 1"):
        randomx.median_timestamp([1])


def test_malformed_blobs() -> None:
    with pytest.raises(ValueError, match="^blob: timestamp at byte 2"):
        randomx.Block(b"\x10\x10")
    with pytest.raises(ValueError, match="^hashing_blob: "):
        randomx.block_id(b"")


def settle(chain: randomx.Chain, work: randomx.Work, vm: randomx.Vm) -> randomx.Verdict:
    return chain.settle(vm.hash(work.hashing_blob))


def test_blocks_follow_each_other() -> None:
    start = randomx.Checkpoint.genesis("regtest")
    assert (start.height, start.work, start.recent) == (0, 1, [(0, 1)])
    assert start.seeds == [(0, start.id)] and start.is_complete
    vm = randomx.Vm(start.id)
    chain = randomx.Chain(start, network="regtest", fixed_difficulty=1)
    previous, blobs = start.id, []
    for height in range(1, 6):
        blobs.append(block(height, previous))
        previous = randomx.Block(blobs[-1]).id
    work = [chain.push(blob, height=height) for height, blob in enumerate(blobs[:3], start=1)]
    assert (chain.pending, chain.next_height) == (3, 4)
    for height, (one, blob) in enumerate(zip(work, blobs, strict=False), start=1):
        assert one is not None and one.seed_hash == start.id and one.difficulty == 1
        assert one.hashing_blob == randomx.Block(blob).hashing_blob
        verdict = settle(chain, one, vm)
        assert verdict.status == "valid" and verdict.is_accepted and verdict.complete_start
        assert verdict.height == height and verdict.id == randomx.Block(blob).id
        assert verdict.hash == vm.hash(one.hashing_blob)
        assert verdict.difficulty == 1 and verdict.work == height + 1
        assert len(verdict.transaction_ids) == 1
        assert not [check for check in verdict.checks if check.passed is False]
    middle = chain.checkpoint()
    assert middle is not None and middle.height == 3 and middle.work == 4
    parts = randomx.Checkpoint(
        height=middle.height,
        id=middle.id,
        work=middle.work,
        recent=middle.recent,
        seeds=middle.seeds,
    )
    assert parts == middle != start
    chain = randomx.Chain(parts, network="regtest", fixed_difficulty=1)
    assert chain.push(hashing_blob=randomx.Block(blobs[3]).hashing_blob) is not None
    unproven = chain.settle()
    assert unproven.status == "unproven" and unproven.is_accepted and unproven.hash is None
    # A block that does not follow.
    assert chain.push(block(5, hashlib.sha256().digest())) is None
    refused = chain.settle()
    assert refused.status == "invalid" and not refused.is_accepted
    failed = [check.name for check in refused.checks if check.passed is False]
    assert failed == ["previous-id"]
    assert chain.checkpoint() == parts
    with pytest.raises(RuntimeError, match="the block at height 5 was refused"):
        chain.push(blobs[4])


def test_blocks_of_the_main_network() -> None:
    for vector in read("mainnet-blocks.json")["blocks"]:
        chain = randomx.Chain(vector["height"])
        blob = bytes.fromhex(vector["block_blob"])
        seed_hash = bytes.fromhex(vector["seed_hash"])
        with pytest.raises(ValueError, match="^seed_hash: expected the id of block"):
            chain.push(blob)
        with pytest.raises(ValueError, match="^difficulty: expected a difficulty"):
            chain.push(blob, seed_hash=seed_hash)
        work = chain.push(blob, seed_hash=seed_hash, difficulty=1)
        assert work is not None and work.seed_hash == seed_hash
        verdict = chain.settle(bytes.fromhex(vector["pow_hash"]))
        assert verdict.status == "valid" and not verdict.complete_start
        assert verdict.id is not None and verdict.id.hex() == vector["id"]


def test_the_example_of_the_readme() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    (example,) = (part for part in readme.split("```python\n") if part.startswith("chain = "))
    vector = read("mainnet-blocks.json")["blocks"][0]
    blob, seed_hash = (bytes.fromhex(vector[name]) for name in ("block_blob", "seed_hash"))
    names = {"randomx": randomx, "height": vector["height"], "blocks": [(blob, seed_hash, 10**9)]}
    exec(example.partition("```")[0], names)
    assert names["verdict"].status == "valid"
    assert names["checkpoint"].id.hex() == vector["id"]


def test_work_that_is_too_little() -> None:
    start = randomx.Checkpoint.genesis("regtest")
    chain = randomx.Chain(start, network="regtest", fixed_difficulty=2**100)
    work = chain.push(block(1, start.id))
    assert work is not None and work.difficulty == 2**100
    verdict = chain.settle(bytes([0xFF]) * 32)
    assert verdict.status == "invalid"
    (failed,) = [check for check in verdict.checks if check.passed is False]
    assert failed.name == "proof-of-work" and str(2**100) in failed.detail


def test_wrong_chains() -> None:
    genesis = randomx.Checkpoint.genesis()
    starts: list[tuple[randomx.Checkpoint | int, str, str]] = [
        (genesis, "other", 'network: expected mainnet, .* got "other"'),
        (genesis, "testnet", "^start: implausible"),
        (500_000_001, "mainnet", "^start: height: expected at most 500000000$"),
    ]
    for start, network, mention in starts:
        with pytest.raises(ValueError, match=mention):
            randomx.Chain(start, network=network)
    with pytest.raises(ValueError, match="fixed_difficulty: expected 1"):
        randomx.Chain(genesis, fixed_difficulty=0)
    for height in [-1, 2**64]:
        mention = rf"^start: expected a Checkpoint or 0 to 2\^64 - 1, got {height}"
        with pytest.raises(ValueError, match=mention):
            randomx.Chain(height)
    with pytest.raises(TypeError, match="^start: expected a Checkpoint or 0 to .*, got str"):
        randomx.Chain("genesis")  # type: ignore[arg-type]
    parts = randomx.Checkpoint(height=9, id=genesis.id, work=0, recent=[], seeds=[])
    assert not parts.is_complete
    with pytest.raises(ValueError, match="^start: incomplete"):
        randomx.Chain(parts)
    assert randomx.Chain(parts, allow_incomplete=True).next_height == 10
    with pytest.raises(RuntimeError, match="no block waits"):
        randomx.Chain(genesis).settle()

    class Shifting(int):
        def __rshift__(self, bits: int) -> int:
            return 7

    parts = randomx.Checkpoint(height=9, id=genesis.id, work=Shifting(5), recent=[], seeds=[])
    assert parts.work == 5


def test_errors_name_their_arguments() -> None:
    genesis = randomx.Checkpoint.genesis()
    chain = randomx.Chain(genesis)
    with pytest.raises(ValueError, match="^hash: expected 32 bytes, got 5"):
        chain.settle(b"short")
    for name in ["id", "seed_hash"]:
        wrong: dict[str, Any] = {name: bytes(33)}
        with pytest.raises(ValueError, match=f"^{name}: expected 32 bytes, got 33"):
            chain.push(b"", **wrong)
    for name in ["height", "now"]:
        wrong = {name: -(10**5000)}
        with pytest.raises(ValueError, match=rf"^{name}: expected 0 to 2\^64 - 1, got a longer"):
            chain.push(b"", **wrong)
    for difficulty in [0, -1, 10**5000]:
        with pytest.raises(ValueError, match=r"^difficulty: expected 1 to 2\^256 - 1, got "):
            chain.push(b"", difficulty=difficulty)
    with pytest.raises(ValueError, match=r"^fixed_difficulty: expected 0 to 2\^128 - 1, got -1"):
        randomx.Chain(genesis, fixed_difficulty=-1)
    with pytest.raises(ValueError, match=r"^height: expected 0 to 2\^64 - 1, got -1"):
        randomx.seed_height(-1)
    with pytest.raises(ValueError, match="^hashes: expected 32 bytes, got 0"):
        randomx.tree_hash([genesis.id, b""])
    parts: dict[str, Any] = {"height": 9, "id": genesis.id, "work": 0, "recent": [], "seeds": []}
    for name, value, mention in [
        ("id", b"", "32 bytes, got 0"),
        ("work", 2**128, r"0 to 2\^128 - 1, got 340282366920938463463374607431768211456"),
        ("recent", [(0, -1)], r"0 to 2\^128 - 1, got -1"),
        ("recent", [(0, 1, 2)], r"pairs, got \(0, 1, 2\)"),
        ("seeds", [(0, b"x")], "32 bytes, got 1"),
    ]:
        wrong = parts | {name: value}
        with pytest.raises(ValueError, match=f"^{name}: expected {mention}"):
            randomx.Checkpoint(**wrong)
    with pytest.raises(TypeError, match="^seeds: expected a sequence, got int"):
        randomx.Checkpoint(**(parts | {"seeds": 1}))
