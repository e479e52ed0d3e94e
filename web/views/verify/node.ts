/** The form that asks a node for a part of its chain, and verifies it. */
import { MoneroNode, RandomXError, type ChainCheckpoint } from "../../../wasm/js/index.js";
import { invalidArgument } from "../../../wasm/js/errors.js";
import * as validate from "../../../wasm/js/validate.js";
import { Blocks } from "./blocks.js";
import { engine } from "../../engine/engine.js";
import { Field } from "../../shell/field.js";
import { find } from "../../shell/page.js";
import { failure, whole } from "../../shell/words.js";

/** What is to be verified. */
interface Range {
  url: string;
  first: number;
  last: number;
}

/** The most blocks of one run: some minutes' work. */
const MOST = 1000;

/** Where this page has verified a chain to, by itself; by the address of the node. */
const verified = new Map<string, ChainCheckpoint>();

/** Wires the form to the list of blocks. */
export function wireNode(closing: AbortSignal): void {
  const form = find(document, "#node-form", HTMLFormElement);
  const verify = find(form, "[type=submit]", HTMLButtonElement);
  const stop = find(form, "#node-cancel", HTMLButtonElement);
  const url = new Field("node-url", (_name, text) => new MoneroNode(text));
  const first = new Field("node-from", height);
  const last = new Field("node-to", height);
  const blocks = new Blocks();

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const range = read();
    if (range) void run(range);
  });

  function read(): Range | undefined {
    const fields = [url, first, last];
    const texts = fields.map((field) => field.read());
    const [address, from, to] = texts;
    if (address === undefined || from === undefined || to === undefined) {
      fields[texts.indexOf(undefined)]?.focus();
      return undefined;
    }
    const range = { url: address, first: Number(from), last: Number(to) };
    const most = range.first + MOST - 1;
    if (range.last >= range.first && range.last <= most) return range;
    last.complain(`Last height: expected ${whole(range.first)} to ${whole(most)}.`);
    last.focus();
    return undefined;
  }

  async function run(range: Range): Promise<void> {
    const abort = new AbortController();
    const onStop = (): void => {
      abort.abort();
    };
    stop.addEventListener("click", onStop);
    verify.disabled = true;
    stop.disabled = false;
    await verifyRange(range, blocks, AbortSignal.any([abort.signal, closing]));
    verify.disabled = false;
    stop.disabled = true;
    stop.removeEventListener("click", onStop);
  }
}

/** Verifies a range and shows how it goes. Never rejects. */
async function verifyRange(range: Range, blocks: Blocks, signal: AbortSignal): Promise<void> {
  const { url, first, last } = range;
  blocks.clear("Asking the node…");
  try {
    const node = new MoneroNode(url);
    const known = verified.get(url);
    const own = known?.height === first - 1 ? known : undefined;
    const checkpoint = own ?? (await node.getCheckpoint(first - 1, { signal }));
    const randomx = await engine();
    const chain = randomx.verifyChain(node.getBlocks(first, last, { signal }), {
      checkpoint,
      signal,
      onProgress: ({ phase, done }) => {
        if (phase !== "cache" || done === 1) return;
        blocks.tell(`Filling the cache of a seed hash: ${Math.floor(100 * done)} %`);
      },
    });
    for await (const verdict of chain) {
      blocks.add(verdict);
      if (!verdict.valid) {
        blocks.end("invalid", `Rejected: block ${whole(verdict.height)} is not what it should be.`);
        return;
      }
      blocks.tell(`Block ${whole(verdict.height)} of ${whole(last)} is valid.`);
    }
    if (chain.checkpoint) verified.set(url, chain.checkpoint);
    const before = own ? "which this page has verified" : "of which the node is believed";
    const count = last - first + 1;
    const what = count === 1 ? "The block is valid" : `All ${whole(count)} blocks are valid`;
    blocks.end("valid", `${what}, and follow on block ${whole(first - 1)}, ${before}.`);
  } catch (error) {
    const stopped = error instanceof RandomXError && error.code === "aborted";
    blocks.end(stopped ? "cancelled" : "failed", stopped ? "Stopped." : failure(error));
  }
}

/** The check of a height that is not the first block's, which follows on nothing. */
function height(name: string, text: string): void {
  const value = /^[0-9]{1,16}$/u.test(text) ? Number(text) : NaN;
  if (validate.height(name, value) < 1) throw invalidArgument(name, "expected at least 1");
}
