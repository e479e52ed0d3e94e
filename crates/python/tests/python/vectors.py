"""The vectors in the repository's folder `tests/vectors`."""

import json
import os
from pathlib import Path
from typing import Any

FOLDER = Path(os.environ["RANDOMX_VECTORS"])


def read(name: str) -> Any:
    return json.loads((FOLDER / name).read_text())


def shares() -> list[dict[str, Any]]:
    found = read("mainnet-shares.json")
    return [
        {
            "seed_hash": bytes.fromhex(found["seed_hash"]),
            "hashing_blob": bytes.fromhex(share["hashing_blob"]),
            "difficulty": share["share_difficulty"],
            "pow_hash": bytes.fromhex(share["pow_hash"]),
        }
        for share in found["shares"]
    ]
