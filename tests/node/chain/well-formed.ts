/** Well-formed answers: as long as the package's limits allow, or short. */

const KIB = 1 << 10;
const MIB = 1 << 20;

/** Room for the fields beside those that make an answer long. */
const REST = KIB;

/** The longest hashing blob. The same byte stands for the length before it. */
const HEADER = 92;

const HASH = "ab".repeat(32);

/**
 * Returns a relay's or a node's answer, whose texts have a share of the length that is allowed. The path
 * begins after the attack's name.
 */
export function wellFormed(path: readonly string[], body: string, share: number): Buffer {
  const text = (length: number): string => "0a".repeat((length * share) / 2);
  const [, kind, , count] = path;
  if (kind === "headers") return Buffer.alloc((1 + HEADER) * Number(count), HEADER);
  if (path.at(-1) === "get_transactions") {
    const [hash] = (JSON.parse(body) as { txs_hashes: string[] }).txs_hashes;
    const digits = { as_hex: text(320 * KIB), pruned_as_hex: text(320 * KIB) };
    const found = { tx_hash: hash, in_pool: false, block_height: 1, ...digits };
    return json({ status: "OK", txs: [found] });
  }
  const { method, params } = JSON.parse(body) as { method: string; params: Params };
  return json({ result: { status: "OK", ...result(method, params, text) } });
}

/** Returns hex digits. */
type Text = (length: number) => string;

interface Params {
  height: number;
  start_height: number;
  end_height: number;
}

function result(
  method: string,
  { height, start_height: first, end_height: last }: Params,
  text: Text,
): object {
  switch (method) {
    case "get_info":
      return {
        ...{ height: 5_000_000, top_block_hash: HASH, wide_difficulty: "0x1" },
        ...{ nettype: "fakechain", synchronized: true, other: text(16 * KIB - REST) },
      };
    case "get_block_headers_range": {
      const count = last - first + 1;
      const length = Math.floor((2 * MIB) / count) - REST;
      return {
        headers: Array.from({ length: count }, (_, index) => header(first + index, text(length))),
      };
    }
    case "get_block":
      return { block_header: header(height, ""), blob: text(2 * MIB - REST) };
    default:
      return { block_header: header(height, text(16 * KIB - REST)) };
  }
}

function header(height: number, other: string): object {
  return {
    ...{ height, hash: HASH, prev_hash: HASH, miner_tx_hash: HASH, orphan_status: false },
    ...{ major_version: 16, minor_version: 16, timestamp: 1, nonce: 1, num_txes: 0 },
    ...{ wide_difficulty: "0x1", wide_cumulative_difficulty: "0x2", other },
  };
}

function json(answer: object): Buffer {
  return Buffer.from(JSON.stringify(answer));
}
