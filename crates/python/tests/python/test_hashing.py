"""Hashes, against the vectors of the reference implementation."""

import enum
import re
import signal
import threading
import time
from collections import defaultdict

import pytest
import randomx_web as randomx
from stores import ctrl_c
from vectors import read, shares


def test_reference_hashes() -> None:
    keys = defaultdict(list)
    for name in ["reference-hashes.json", "specification-hashes.json"]:
        for vector in read(name)["vectors"]:
            keys[bytes.fromhex(vector["key"])].append(vector)
    count = 0
    for key, vectors in keys.items():
        cache = randomx.Cache(key)
        for version in [1, 2]:
            chosen = [vector for vector in vectors if vector["version"] == version]
            inputs = [bytes.fromhex(vector["input"]) for vector in chosen]
            expected = [bytes.fromhex(vector["hash"]) for vector in chosen]
            assert randomx.hash_many(cache, inputs, version=version) == expected
            vm = randomx.Vm(cache, version=version)
            assert [vm.hash(data) for data in inputs[:2]] == expected[:2]
            count += len(chosen)
    assert count >= 90


def test_keys_may_be_bytes() -> None:
    share = shares()[0]
    key, blob = share["seed_hash"], share["hashing_blob"]
    assert randomx.hash(key, blob) == share["pow_hash"]
    assert randomx.hash(bytearray(key), bytearray(blob)) == share["pow_hash"]
    assert randomx.verify(key, blob, share["difficulty"])


def test_difficulties_of_any_size() -> None:
    share = shares()[0]
    cache = randomx.Cache(share["seed_hash"])
    blob, pow_hash = share["hashing_blob"], share["pow_hash"]
    most = (2**256 - 1) // int.from_bytes(pow_hash, "little")
    for difficulty, met in [(1, True), (most, True), (most + 1, False), (2**256 - 1, False)]:
        assert randomx.verify(cache, blob, difficulty) is met
        assert randomx.meets_difficulty(pow_hash, difficulty) is met
    for difficulty in [0, -1, -(10**400), 2**256, 10**5000, -(10**5000)]:
        got = "a longer number" if abs(difficulty) > 10**4300 else str(difficulty)[:80]
        mention = re.escape(f"difficulty: expected 1 to 2^256 - 1, got {got}")
        with pytest.raises(ValueError, match=f"^{mention}"):
            randomx.verify(cache, blob, difficulty)
        with pytest.raises(ValueError, match=f"^{mention}"):
            randomx.meets_difficulty(pow_hash, difficulty)
    with pytest.raises(TypeError, match=r"^difficulty: expected 1 to 2\^256 - 1, got float"):
        randomx.verify(cache, blob, 1.0)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^difficulty: expected 1 to 2\^256 - 1, got str"):
        randomx.meets_difficulty(pow_hash, "1")  # type: ignore[arg-type]


class Named(int):
    """An integer whose methods return other values than its own."""

    def __str__(self) -> str:
        return "1"

    def __repr__(self) -> str:
        return "1"

    def __index__(self) -> int:
        return 1

    def __int__(self) -> int:
        return 1

    def __rshift__(self, count: int) -> int:
        return 0


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2**255

    # As in Python 3.10.
    def __str__(self) -> str:
        return f"Level.{self.name}"


def test_difficulties_are_judged_by_their_values() -> None:
    highest = bytes([0xFF]) * 32
    for difficulty, met in [(Named(1), True), (Named(2), False), (Named(2**255), False)]:
        assert randomx.meets_difficulty(highest, difficulty) is met
    assert randomx.meets_difficulty(highest, Level.LOW)
    assert not randomx.meets_difficulty(highest, Level.HIGH)
    assert randomx.meets_difficulty(highest, True)
    for refused in [Named(0), Named(-1), False]:
        got = int.__repr__(refused)
        with pytest.raises(ValueError, match=f"^difficulty: expected 1 to .*, got {got}"):
            randomx.meets_difficulty(highest, refused)


def test_a_dataset_gives_the_same_hashes() -> None:
    some = shares()[:3]
    try:
        dataset = randomx.Dataset(randomx.Cache(some[0]["seed_hash"]), threads=2)
    except MemoryError:
        pytest.skip("no memory for a dataset")
    vm = randomx.Vm(dataset, threads=2)
    assert vm.hash_many([share["hashing_blob"] for share in some]) == [
        share["pow_hash"] for share in some
    ]


def test_commitments() -> None:
    for vector in read("commitments.json")["vectors"]:
        data, pow_hash = bytes.fromhex(vector["input"]), bytes.fromhex(vector["hash"])
        assert randomx.calculate_commitment(data, pow_hash).hex() == vector["commitment"]


def test_the_interpreter_runs_meanwhile() -> None:
    some = shares()
    vm = randomx.Vm(some[0]["seed_hash"])
    hashing = threading.Thread(target=vm.hash_many, args=([s["hashing_blob"] for s in some],))
    start = time.monotonic()
    hashing.start()
    turns = 0
    while hashing.is_alive():
        time.sleep(0.001)
        assert vm.threads == 1
        turns += 1
    assert turns > 20, f"{turns} turns in {time.monotonic() - start} s"


def test_the_interpreter_runs_during_a_commitment() -> None:
    data = bytes(256 << 20)
    work = threading.Thread(target=randomx.calculate_commitment, args=(data, bytes(32)))
    work.start()
    turns = 0
    while work.is_alive():
        time.sleep(0.001)
        turns += 1
    assert turns > 20, f"{turns} turns"


def test_threads_share_a_vm() -> None:
    some = shares()[:8]
    vm = randomx.Vm(some[0]["seed_hash"], threads=2)
    found: dict[int, bytes] = {}

    def work(index: int) -> None:
        found[index] = vm.hash(some[index]["hashing_blob"])

    threads = [threading.Thread(target=work, args=(index,)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[index] for index in range(8)] == [share["pow_hash"] for share in some]


def test_wrong_arguments() -> None:
    for make in [randomx.Cache, randomx.Vm]:
        with pytest.raises(TypeError, match="^key: expected .*bytes.*, got str"):
            make("text")
    with pytest.raises(TypeError, match="^hashing_blob: expected bytes or bytearray, got str"):
        randomx.verify(b"", "text", 1)  # type: ignore[arg-type]
    # Sequences that claim to be longer than memory.
    with pytest.raises(TypeError, match="^inputs: expected bytes or bytearray, got int"):
        randomx.hash_many(b"", range(2**62))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="^hash: expected 32 bytes, got range"):
        randomx.meets_difficulty(range(2**62), 1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="^hashes: expected 32 bytes, got int"):
        randomx.tree_hash(range(2**62))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="version: expected 1 or 2, got 3"):
        randomx.hash(b"", b"", version=3)
    for threads in [0, 1025]:
        with pytest.raises(ValueError, match=f"threads: expected 1 to 1024, got {threads}"):
            randomx.hash_many(b"", [], threads=threads)
    for threads in [-1, 2**64]:
        with pytest.raises(ValueError, match=f"^threads: expected 1 to 1024, got {threads}"):
            randomx.Vm(b"", threads=threads)
    with pytest.raises(ValueError, match="^version: expected 1 or 2, got -1"):
        randomx.Vm(b"", version=-1)
    with pytest.raises(TypeError, match="^threads: expected 1 to 1024, got str"):
        randomx.Vm(b"", threads="two")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="^hash: expected 32 bytes, got 5"):
        randomx.calculate_commitment(b"", b"short")
    with pytest.raises(ValueError, match="^hash: expected 32 bytes, got 5"):
        randomx.meets_difficulty(b"short", 1)


def test_ctrl_c_ends_hashing() -> None:
    cache = randomx.Cache(shares()[0]["seed_hash"])
    vm = randomx.Vm(cache)
    # Signals are handled after 512 hashes of each thread, which take up to 20 s on a busy machine. All take hours.
    with ctrl_c(0.5, within=120):
        vm.hash_many([b"input"] * 1_000_000)
    assert vm.hash(shares()[0]["hashing_blob"]) == shares()[0]["pow_hash"]
    with ctrl_c(0.5, within=120):
        randomx.hash_many(cache, [b"input"] * 1_000_000, threads=1)


def test_a_handler_may_hash_with_the_vm_that_hashes() -> None:
    share = shares()[0]
    vm = randomx.Vm(share["seed_hash"])
    found = []

    def handle(*_arguments: object) -> None:
        found.append(vm.hash(share["hashing_blob"]))

    before = signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    hashes = vm.hash_many([share["hashing_blob"]] * 600)
    signal.signal(signal.SIGALRM, before)
    assert found == [share["pow_hash"]]
    assert hashes == [share["pow_hash"]] * 600


def test_ctrl_c_ends_a_dataset() -> None:
    cache = randomx.Cache(b"key")
    try:
        with ctrl_c(0.5):
            randomx.Dataset(cache, threads=1)
    except MemoryError:
        pytest.skip("no memory for a dataset")
