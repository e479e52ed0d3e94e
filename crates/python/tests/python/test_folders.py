"""The folders of audits: whose results they have, and who may write to them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from randomx_web import _native, audit
from randomx_web._storage import Place
from stores import write_rows


def test_a_job_of_other_rules_is_refused(tmp_path: Path) -> None:
    source, output = tmp_path / "rows.parquet", tmp_path / "audit"
    write_rows(source, [b"value"])
    plan = _native.Audit(str(source), str(output))
    ((_, job),) = plan.left()
    rules = json.loads(job)["rules"]
    for other in (rules - 1, rules + 1):
        changed = json.dumps(json.loads(job) | {"rules": other}).encode()
        with pytest.raises(
            ValueError, match=f"^job: expected a job of rules {rules}, got .* {other};"
        ):
            _native.audit_epoch(changed)
    assert not list(output.glob("epoch-*"))
    assert _native.audit_epoch(job)
    assert plan.finish()[0] == 1


def test_a_forked_process_neither_keeps_nor_unlocks_a_folder(tmp_path: Path) -> None:
    source, output = tmp_path / "rows.parquet", tmp_path / "audit"
    write_rows(source, [b"value"])
    code = (
        "import os, sys; from randomx_web import _native\n"
        "make = lambda: _native.Audit(sys.argv[1], sys.argv[2])\n"
        "plan = make()\n"
        "if not (ended := os.fork()):\n"
        "    del plan\n"
        "    os._exit(0)\n"
        "os.waitpid(ended, 0)\n"
        "try: make()\n"
        "except ValueError as problem: print(problem)\n"
        "reader, writer = os.pipe()\n"
        "if not (other := os.fork()):\n"
        "    os.close(writer)\n"
        "    os.read(reader, 1)\n"
        "    os._exit(0)\n"
        "del plan\n"
        "make()\n"
        "print('unlocked')\n"
        "os.close(writer)\n"
        "os.waitpid(other, 0)"
    )
    arguments = [sys.executable, "-c", code, str(source), str(output)]
    run = subprocess.run(arguments, capture_output=True, text=True, timeout=60)
    lines = run.stdout.splitlines()
    assert len(lines) == 2 and "another process uses this folder" in lines[0], run.stderr
    assert lines[1] == "unlocked"


def test_an_output_in_the_input_is_refused(tmp_path: Path) -> None:
    chain = tmp_path / "chain"
    chain.mkdir()
    write_rows(chain / "a.parquet", [b"value"])
    expected = (
        "expected a folder outside the input .*, got .* later runs would refuse as a subfolder"
    )
    with pytest.raises(ValueError, match=f"^--output {chain}/audit: {expected}"):
        _native.Audit(str(chain), str(chain / "audit"))
    assert not (chain / "audit").exists()
    _native.Audit(str(chain), str(chain / "_audit"))
    with pytest.raises(ValueError, match=f"^output: {expected}"):
        audit.audit("s3://bucket/chain", "s3://bucket/chain/audit")


@pytest.mark.parametrize(
    "source, output, is_in",
    [
        ("s3://bucket/chain", "s3://bucket/chain/audit", True),
        ("s3://bucket/chain/", "s3://bucket//chain/2024/audit", True),
        ("s3://bucket", "s3://bucket/audit", True),
        ("s3://bucket/chain?region=x", "s3://bucket/chain/audit?region=x", True),
        ("s3://bucket/chain?region=x", "s3://bucket/chain/audit?region=y", False),
        ("s3://bucket/chain", "s3://bucket/chain/_audit", False),
        ("s3://bucket/chain", "s3://bucket/chain-audit", False),
        ("s3://bucket/chain", "s3://bucket/chain", False),
        ("s3://bucket/chain", "gs://bucket/chain/audit", False),
        ("s3://bucket/chain", "s3://other/chain/audit", False),
        ("/chain", "s3://bucket/chain/audit", False),
        # The native module compares paths.
        ("/chain", "/chain/audit", False),
    ],
)
def test_an_output_in_an_input_of_an_object_store(source: str, output: str, is_in: bool) -> None:
    assert Place.named("output", output).is_in(Place.named("input", source)) is is_in
