"""The folders of audits: whose results they have, and who may write to them."""

import json
from pathlib import Path

import pytest
from randomx_web import _native
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
            ValueError, match=f"^job: expected one by rules {rules}, got .* {other};"
        ):
            _native.audit_epoch(changed)
    assert not list(output.glob("epoch-*"))
    assert _native.audit_epoch(job)
    assert plan.finish()[0] == 1
