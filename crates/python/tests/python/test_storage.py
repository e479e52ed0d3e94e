"""Storages that fail, disks that are full, and signals."""

import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from moto.s3.models import S3Backend
from object_store import bucket
from pyarrow import fs, parquet
from randomx_web import _native, _ray, _storage, audit
from randomx_web._storage import ObjectStore
from stores import Store, audited, ctrl_c, write_rows


@pytest.mark.parametrize("name", ["rows.parquet", "rows.jsonl"])
@pytest.mark.parametrize("kind", [OSError, InterruptedError, KeyboardInterrupt])
def test_no_failure_is_lost_or_blamed_on_the_file(
    kind: type[BaseException], name: str, tmp_path: Path
) -> None:
    source = tmp_path / name
    if source.suffix == ".jsonl":
        source.write_text('{"height":7}\n' * 9)
    else:
        write_rows(source, [bytes([row]) for row in range(9)])
    raised = OSError if issubclass(kind, OSError) else kind
    failures = 0
    for before in range(1000):
        store = Store(before, kind("the cable was cut"))
        output = tmp_path / str(before)
        try:
            invalid = audited(source, output, store)
        except raised as problem:
            assert store.has_failed and "the cable was cut" in str(problem)
            # The folder can be used again.
            assert audited(source, output, Store()) == 9
            failures += 1
        else:
            assert not store.has_failed and invalid == 9
            break
    assert 10 < failures < 1000


def test_an_empty_file_that_a_killed_process_left_is_no_manifest(tmp_path: Path) -> None:
    source, output = tmp_path / "rows.parquet", tmp_path / "audit"
    write_rows(source, [b"value"] * 9)
    output.mkdir()
    for name in ("run.json", "epoch-0000000000.parquet"):
        (output / name).write_bytes(b"")
        assert audited(source, output, Store()) == 9
        assert (output / name).stat().st_size > 0


def test_long_values_are_read_in_pieces(tmp_path: Path) -> None:
    source, output = tmp_path / "long.parquet", tmp_path / "audit"
    values = [os.urandom(6 << 20), b"short", os.urandom(5 << 20)]
    write_rows(source, values)
    store = Store()
    assert audited(source, output, store) == 3
    assert store.longest == 4 << 20
    assert parquet.read_table(output / "epoch-0000000000.parquet")["value"].to_pylist() == values


def test_rows_that_a_range_leaves_out_for_their_heights_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "rows.jsonl"
    source.write_text('{"height":1}\nnot JSON\n{}\n{"height":9}\n')
    ranges: list[tuple[str, int | None, int | None, int]] = [
        ("all", None, None, 0),
        ("first", 0, None, 2),
        ("last", None, 5, 2),
    ]
    for name, first, last, left_out in ranges:
        output = str(tmp_path / name)
        plan = _native.Audit(str(source), output, lines=True, first=first, last=last)
        assert plan.left_out == left_out
        for _, job in plan.left():
            assert _native.audit_epoch(job)
        plan.finish()
        # Unlocks the folder.
        del plan
    # No cluster is needed if all epochs are done.
    audit.audit(source, tmp_path / "all")
    assert capsys.readouterr().err == ""
    audit.audit(source, tmp_path / "last", last=5)
    sentence = "2 rows without a height are left out: a range chooses rows by their heights\n"
    assert capsys.readouterr().err == sentence


def test_a_file_appears_in_s3_when_all_of_it_was_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    send: Any = S3Backend.upload_part
    fails = False
    held = []

    def upload_part(*arguments: Any, **keywords: Any) -> Any:
        held.append(pyarrow.total_allocated_bytes())
        if fails and len(held) > 1:
            raise OSError("the cable was cut")
        return send(*arguments, **keywords)

    monkeypatch.setattr(S3Backend, "upload_part", upload_part)
    result = tmp_path / "result"
    with bucket() as address:
        # Pickles of a file system with this option lack it.
        other = f"{address('result')}&tls_verify_certificates=false"
        for where in (address("result"), other):
            store, path = _storage.Place.named("output", where).split()
            assert store is not None
            for size in (0, 5, 35 << 20):
                fails = False
                result.write_bytes(os.urandom(size))
                held.clear()
                store.put(str(result), path)
                with store.open(path) as file:
                    assert file.readall() == result.read_bytes()
                # No more than a part and what pyarrow sends it with waits in memory.
                assert all(bytes < 2.5 * _storage.PART for bytes in held)
            assert len(held) == 4
            fails = True
            held.clear()
            kept = result.read_bytes()
            result.write_bytes(os.urandom(35 << 20))
            with pytest.raises(OSError, match="UploadPart"):
                store.put(str(result), path)
            gc.collect()
            with store.open(path) as file:
                assert file.readall() == kept


def test_ctrl_c_leaves_no_part_of_a_file_in_s3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    send: Any = S3Backend.upload_part
    parts = []

    def upload_part(*arguments: Any, **keywords: Any) -> Any:
        parts.append(keywords)
        if len(parts) == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return send(*arguments, **keywords)

    monkeypatch.setattr(S3Backend, "upload_part", upload_part)
    result = tmp_path / "result"
    result.write_bytes(os.urandom(35 << 20))
    with bucket() as address:
        store, path = _storage.Place.named("output", address("result")).split()
        assert store is not None
        with pytest.raises(KeyboardInterrupt):
            store.put(str(result), path)
        gc.collect()
        with store.open(path) as file:
            assert file.readall() == result.read_bytes()


def test_a_full_disk_is_an_error_that_is_tried_again(tmp_path: Path) -> None:
    source, output = tmp_path / "rows.parquet", tmp_path / "audit"
    write_rows(source, [b"value"] * 9)
    plan = _native.Audit(str(source), str(output))
    ((_, job),) = plan.left()
    (tmp_path / "job").write_bytes(job)
    code = (
        "import resource, sys; from randomx_web import _native\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try: _native.audit_epoch(open(sys.argv[1], 'rb').read())\n"
        "except OSError as problem: print(problem)"
    )
    arguments = [sys.executable, "-c", code, str(tmp_path / "job")]
    run = subprocess.run(arguments, capture_output=True, text=True)
    assert "epoch-0000000000.parquet: File too large" in run.stdout, run.stderr
    assert _native.audit_epoch(job)
    assert plan.finish()[0] == 9


def test_ctrl_c_ends_the_reading_of_local_files(tmp_path: Path) -> None:
    source = tmp_path / "long.jsonl"
    with source.open("wb") as file:
        file.truncate(256 << 30)
    with ctrl_c(0.5):
        _native.Audit(str(source), str(tmp_path / "audit"), lines=True)


def test_any_exception_of_a_handler_ends_the_reading_of_local_files(tmp_path: Path) -> None:
    source = tmp_path / "long.parquet"
    write_rows(source, [b"value"])
    content = source.read_bytes()
    footer = content[-8 - int.from_bytes(content[-8:-4], "little") :]
    with source.open("r+b") as file:
        # A long hole, which is read too, comes before the footer.
        file.seek(256 << 30)
        file.write(footer)

    def stop(*_arguments: object) -> None:
        raise InterruptedError("the handler ends it")

    before = signal.signal(signal.SIGALRM, stop)
    start = time.monotonic()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        with pytest.raises(InterruptedError, match="the handler ends it"):
            _native.Audit(str(source), str(tmp_path / "audit"))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - start < 30


def test_a_handler_may_use_the_audit_that_reads(tmp_path: Path) -> None:
    source, output = tmp_path / "rows.parquet", tmp_path / "audit"
    write_rows(source, [b"value"])
    assert audited(source, output, Store()) == 1
    result = output / "epoch-0000000000.parquet"
    whole = tmp_path / "whole"
    result.rename(whole)
    with result.open("wb") as file:
        # A long hole, which is read too, comes before the result.
        file.seek(256 << 30)
        file.write(whole.read_bytes())
    code = (
        "import os, signal, sys, time; from randomx_web import _native\n"
        "source, output, whole, result = sys.argv[1:]\n"
        "plan = _native.Audit(source, output)\n"
        "def stop(*_arguments):\n"
        "    os.replace(whole, result)\n"
        "    time.sleep(0.2)\n"
        "    print('left:', plan.left(), flush=True)\n"
        "    raise ValueError('the handler ends it')\n"
        "signal.signal(signal.SIGALRM, stop)\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.5)\n"
        "try: plan.left()\n"
        "except ValueError as problem: print(problem)"
    )
    places = [str(path) for path in (source, output, whole, result)]
    arguments = [sys.executable, "-c", code, *places]
    run = subprocess.run(arguments, capture_output=True, text=True, timeout=60)
    assert run.stdout == "left: []\nthe handler ends it\n", run.stderr


def test_a_folder_with_the_name_of_a_table_is_no_table(tmp_path: Path) -> None:
    chain = tmp_path / "chain"
    (chain / "b.parquet").mkdir(parents=True)
    write_rows(chain / "a.parquet", [b"value"])
    for reads in (None, ObjectStore(fs.LocalFileSystem())):
        with pytest.raises(OSError, match=r"cannot read .*b\.parquet: "):
            _native.Audit(str(chain), str(tmp_path / "audit"), reads=reads)


def test_a_subfolder_is_refused(tmp_path: Path) -> None:
    chain = tmp_path / "chain"
    (chain / "year=2024").mkdir(parents=True)
    (chain / "_temporary").mkdir()
    write_rows(chain / "a.parquet", [b"value"])
    for reads in (None, ObjectStore(fs.LocalFileSystem())):
        with pytest.raises(ValueError, match="year=2024: expected Parquet files in one folder"):
            _native.Audit(str(chain), str(tmp_path / "audit"), reads=reads)
    (chain / "year=2024").rmdir()
    for number, reads in enumerate((None, ObjectStore(fs.LocalFileSystem()))):
        _native.Audit(str(chain), str(tmp_path / f"audit{number}"), reads=reads)


def test_signals_end_the_hashing_of_an_epoch(tmp_path: Path) -> None:
    count = 4096
    # Its versions, its time, the block before it, its nonce, the root of its transactions and their number.
    blob = bytes([16, 16, 0]) + bytes(32 + 4 + 32) + bytes([1])
    columns = {
        "height": pyarrow.array([2_700_000] * count, pyarrow.uint64()),
        "seed_hash": pyarrow.array([bytes(32)] * count, pyarrow.binary(32)),
        "hashing_blob": pyarrow.array([blob] * count),
        "difficulty": pyarrow.array([1] * count),
    }
    parquet.write_table(pyarrow.table(columns), tmp_path / "rows.parquet")
    plan = _native.Audit(str(tmp_path / "rows.parquet"), str(tmp_path / "audit"))
    left = plan.left()
    ((name, job),) = left
    with ctrl_c(2):
        _native.audit_epoch(job)

    def stop(*_arguments: object) -> None:
        raise ValueError("the handler ends it")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(2)
    with pytest.raises(ValueError, match="the handler ends it"):
        _native.audit_epoch(job)
    signal.signal(signal.SIGALRM, before)
    assert not list((tmp_path / "audit").glob(f"{name}*"))
    assert plan.left() == left


def test_a_failed_audit_gives_its_folder_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "rows.parquet"
    write_rows(source, [b"value"])

    def fail(*_arguments: Any, **_keywords: Any) -> None:
        raise RuntimeError("no cluster")

    monkeypatch.setattr(_ray, "run", fail)
    kept = []
    for _ in range(2):
        with pytest.raises(RuntimeError, match="no cluster") as failure:
            audit.audit(source, tmp_path / "audit")
        # With its traceback, as an interactive session keeps the last one.
        kept.append(failure.value)
    _native.Audit(str(source), str(tmp_path / "audit"))


def test_a_panic_has_not_the_exit_code_of_a_verdict(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class PanicException(BaseException):
        """Like that of PyO3, no `Exception`."""

    problem: BaseException = PanicException("a bug")

    def fail(*_arguments: Any, **_keywords: Any) -> None:
        raise problem

    monkeypatch.setattr(audit, "_audit", fail)
    arguments = ["--ray", "local", "--input", "x", "--output", "y"]
    assert audit.main(arguments) == audit.UNUSABLE
    assert "a bug" in capsys.readouterr().err
    for problem in [KeyboardInterrupt(), SystemExit(7)]:
        with pytest.raises(type(problem)):
            audit.main(arguments)


def test_an_address_that_became_a_path_is_refused(tmp_path: Path) -> None:
    for scheme in _storage.OBJECT_STORES:
        address = Path(f"{scheme}://bucket/chain")
        for name, places in [("input", (address, tmp_path)), ("output", (tmp_path, address))]:
            expected = f"^{name}: expected an address with {scheme}://"
            with pytest.raises(ValueError, match=expected):
                audit.audit(*places)
    # A folder of this machine may have such a name.
    local = _storage.Place.named("input", "./s3:/chain").address
    assert local == os.path.abspath("./s3:/chain")


def test_numbers_out_of_range(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^first: expected 0 to 2\^64 - 1, got -1"):
        _native.Audit(str(tmp_path), str(tmp_path), first=-1)
    with pytest.raises(ValueError, match="^threads: expected 1 to 1024, got -1"):
        _native.audit_epoch(b"", threads=-1)
    for name, most in [("threads", 1024), ("retries", 1000)]:
        with pytest.raises(ValueError, match=f"^{name}: expected [01] to {most}, got -1"):
            wrong: dict[str, Any] = {name: -1}
            audit.audit(tmp_path, tmp_path, **wrong)


def test_paths_that_are_no_utf_8(tmp_path: Path) -> None:
    wrong = os.fsdecode(b"folder-\xff")
    for name in ["input", "output"]:
        paths: dict[str, Any] = {"input": str(tmp_path), "output": str(tmp_path), name: wrong}
        with pytest.raises(ValueError, match=f"^{name}: expected a path in UTF-8, got folder-"):
            _native.Audit(**paths)
    with pytest.raises(TypeError, match="^output: expected a path, got int"):
        wrong_type: Any = 7
        _native.Audit(str(tmp_path), wrong_type)
