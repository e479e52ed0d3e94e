"""Blocks that have no verdict."""

from pathlib import Path

import pytest
from randomx_web import _native, audit


def test_the_network_decides_which_blocks_have_no_proof_of_work(tmp_path: Path) -> None:
    source = tmp_path / "rows.jsonl"
    # On the main network RandomX began with the next block, on the test network long before.
    blob = (bytes([11, 11, 0]) + bytes(32 + 4 + 32) + bytes([1])).hex()
    source.write_text(f'{{"height":1978432,"hashing_blob":"{blob}"}}\n')
    for network, invalid in [("mainnet", 0), ("testnet", 1)]:
        output = tmp_path / network
        plan = _native.Audit(str(source), str(output), lines=True, network=network)
        for _, job in plan.left():
            assert _native.audit_epoch(job)
        # Unlocks the folder.
        del plan
        # No cluster is needed if all epochs are done.
        assert audit.audit(source, output, network=network).invalid == invalid
        arguments = ["--ray", "none", "--input", str(source), "--output", str(output)]
        code = audit.NOT_VALID if invalid else audit.VALID
        assert audit.main([*arguments, "--network", network]) == code
    with pytest.raises(ValueError, match="of audit of JSON lines [0-9a-f]{64} of testnet"):
        audit.audit(source, output)
    with pytest.raises(ValueError, match='^network: expected mainnet, .*, got "main"'):
        audit.audit(source, tmp_path / "other", network="main")


def test_blocks_of_an_unknown_version_have_no_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, output = tmp_path / "rows.jsonl", tmp_path / "audit"
    blob = (bytes([17, 17, 0]) + bytes(32 + 4 + 32) + bytes([1])).hex()
    row = f'"seed_hash":"{bytes(32).hex()}","hashing_blob":"{blob}","difficulty":1'
    source.write_text(f"{{{row}}}\n")
    plan = _native.Audit(str(source), str(output), lines=True)
    for _, job in plan.left():
        assert _native.audit_epoch(job)
    # Unlocks the folder.
    del plan
    versions = "this release knows versions up to 16"
    reason = f"no verdict on 1 block, whose version needs an update: {versions}"
    result = audit.audit(source, output)
    assert (result.invalid, result.unjudged) == (0, reason)
    arguments = ["--ray", "none", "--input", str(source), "--output", str(output)]
    assert audit.main(arguments) == audit.UNUSABLE
    assert capsys.readouterr().err == f"error: {reason}\n"
