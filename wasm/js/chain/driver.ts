/**
 * The loop around the light client's state machine, in a worker of its own: it asks the sources and
 * passes their answers on. The follower does the work that needs the caller's thread.
 */
import type {
  ChainClient,
  ClientConfig,
  PlainAction,
} from "../../follow/pkg/randomx_follow_wasm.js";
import { RandomXError, asRandomXError } from "../errors.js";
import { hex } from "../monero/hex.js";
import type { Transport } from "../monero/transport.js";
import { findTransaction } from "./find.js";
import type { FollowArgs, FromChain, HashJob, SourceArgs, Start, ToChain } from "./protocol.js";
import { answer, type QuestionWasm } from "./questions.js";
import { Remote } from "./remote.js";
import { NodeSource, RelaySource, type HeaderSource } from "./sources.js";

/** The exports of the WebAssembly module that a driver uses. */
export type ChainWasm = Pick<
  typeof import("../../follow/pkg/randomx_follow_wasm.js"),
  "ClientConfig" | "hashingBlob"
> &
  QuestionWasm;

/** The time between two ticks of the client's clock, in milliseconds. */
const TICK = 1000;

/** The least time between two reports of progress, in milliseconds. */
const PROGRESS = 200;

/** The greatest height that the client accepts, `MAX_HEIGHT` of `randomx-monero`. */
const MAX_HEIGHT = 500_000_000;

/** A source, and what happens with it. */
interface Asked {
  source: HeaderSource;
  state: string;
  /** Why its last answer was not usable. */
  failure: string | undefined;
  /** The height of its newest block, as it says. */
  claim: number;
  /** The height up to which it sent headers. The client may have refused its last answer. */
  read: number;
}

type PlainReportAction = Extract<PlainAction, { action: "report" }>;

/** Drives one client. */
export class Driver {
  readonly #wasm: ChainWasm;
  readonly #send: (message: FromChain) => void;
  readonly #remote: Remote;
  readonly #stop = new AbortController();
  readonly #finds = new Map<number, AbortController>();
  readonly #asked: Asked[] = [];
  #args!: FollowArgs;
  #client!: ChainClient;
  #isSynced = false;
  #reported = { read: 0, target: 0, at: 0 };

  constructor(wasm: ChainWasm, send: (message: FromChain) => void) {
    this.#wasm = wasm;
    this.#send = send;
    this.#remote = new Remote(send);
  }

  /** Takes a message of the follower. The first one begins. */
  receive(message: ToChain): void {
    switch (message.kind) {
      case "begin":
        this.#feed((now) => {
          this.#begin(message.args, now);
        });
        break;
      case "hashed":
        this.#feed((now) => {
          this.#client.onHash(message.job, message.hash, now);
        });
        break;
      case "hash-failed":
        this.#feed((now) => {
          this.#client.onHashFailure(message.job, now);
        });
        break;
      case "find":
        void this.#find(message.id, message.txid);
        break;
      case "question": {
        const { id, question } = message;
        const { network } = this.#args;
        this.#send({
          kind: "answer",
          id,
          answer: answer(this.#wasm, this.#client, network, question),
        });
        break;
      }
      case "stop-find":
        this.#finds.get(message.id)?.abort();
        break;
      default:
        this.#remote.receive(message);
    }
  }

  #begin(args: FollowArgs, now: number): void {
    this.#args = args;
    const { client, refused } = this.#open(args);
    this.#client = client;
    args.sources.forEach((source, index) => {
      client.addSource();
      this.#asked.push({
        source: this.#source(source, index),
        state: "connecting",
        failure: undefined,
        claim: 0,
        read: 0,
      });
    });
    this.#send({ kind: "begun", tip: client.tip(), refused });
    const timer = setInterval(() => {
      this.#feed((now) => {
        client.tick(now);
      });
    }, TICK);
    this.#stop.signal.addEventListener("abort", () => {
      clearInterval(timer);
    });
    client.tick(now);
  }

  #open(args: FollowArgs): { client: ChainClient; refused: string | undefined } {
    const { network, fixedDifficulty, sample, deep, poll, start, state } = args;
    const config = (): ClientConfig => {
      const secret = crypto.getRandomValues(new Uint8Array(32));
      return new this.#wasm.ClientConfig(network, fixedDifficulty, sample, deep, poll, secret);
    };
    if (!state) return { client: begun(config(), start), refused: undefined };
    try {
      return { client: config().restore(state), refused: undefined };
    } catch (thrown) {
      const { code, message } = thrown as { code?: unknown; message: string };
      if (code === "foreign-state") throw new RandomXError("invalid-argument", message);
      if (code !== "damaged-state") throw thrown;
      return { client: begun(config(), start), refused: message };
    }
  }

  #source({ kind, url, isRemote }: SourceArgs, index: number): HeaderSource {
    const { timeout } = this.#args;
    const fetch = isRemote ? this.#remote.of(index) : globalThis.fetch.bind(globalThis);
    const transport: Transport = { timeout, fetch };
    if (kind === "relay") return new RelaySource(url, transport);
    return new NodeSource(url, transport, this.#wasm.hashingBlob, this.#args.sources.length);
  }

  /** Passes an event to the client, and does what follows. */
  #feed(event: (now: number) => void): void {
    try {
      event(Math.floor(Date.now() / 1000));
      this.#act();
    } catch (thrown) {
      this.#stop.abort();
      const { code, message } = asRandomXError(thrown);
      this.#send({ kind: "failed", error: { code, message } });
    }
  }

  #act(): void {
    const jobs: HashJob[] = [];
    const reports: PlainReportAction[] = [];
    let state: Uint8Array | undefined;
    for (let action = this.#client.nextAction(); action; action = this.#client.nextAction()) {
      switch (action.action) {
        case "request":
          void this.#ask(action);
          break;
        case "hash":
          jobs.push(action);
          break;
        case "store":
          ({ state } = action);
          break;
        case "report":
          reports.push(action);
      }
    }
    // Before the reports: a caller that closes the follower at a tip finds that tip in the store.
    if (state) this.#send({ kind: "store", state });
    for (const report of reports) this.#report(report);
    if (jobs.length > 0) this.#send({ kind: "hash", jobs });
    this.#reportProgress();
  }

  #report(report: PlainReportAction): void {
    let failure: string | undefined;
    if (report.report === "source") {
      const asked = this.#asked[report.source];
      if (asked) asked.state = report.state;
      if (report.state === "unresponsive") failure = this.#early(report.source) ?? asked?.failure;
    }
    this.#send({ kind: "report", report, failure });
  }

  /** Returns how far a source's next block is ahead of the clock, if that is why it is not taken. */
  #early(source: number): string | undefined {
    const seconds = this.#client.early(source);
    if (seconds === undefined) return undefined;
    const minutes = Math.floor(seconds / 60).toString();
    return `its next block is ${minutes} minutes ahead of this clock`;
  }

  async #ask(action: Extract<PlainAction, { action: "request" }>): Promise<void> {
    const { request } = action;
    let take: (now: number) => void;
    let failure: string | undefined;
    try {
      take = await this.#answer(action);
    } catch (error) {
      failure = asRandomXError(error).message;
      take = (now) => {
        this.#client.onFailure(request, now);
      };
    }
    const asked = this.#asked[action.source];
    if (asked) asked.failure = failure;
    if (!this.#stop.signal.aborted) this.#feed(take);
  }

  /** Asks a source, and returns the event with its answer. */
  async #answer({
    source: index,
    request,
    query,
    first,
    count,
  }: Extract<PlainAction, { action: "request" }>): Promise<(now: number) => void> {
    const { signal } = this.#stop;
    const asked = this.#asked[index];
    if (!asked) throw new Error("there is no such source");
    const { source } = asked;
    switch (query) {
      case "tip": {
        const { height, id } = await source.tip(signal);
        if (height < 0) throw new Error("get_info: height: expected 1 or more, got 0");
        if (height > MAX_HEIGHT)
          throw new Error(`tip: height: expected at most ${MAX_HEIGHT}, got ${height}`);
        return (now) => {
          asked.claim = height;
          this.#client.onTip(request, height, id, now);
        };
      }
      case "headers": {
        // A first start reads one source at a time.
        if (!this.#client.tip()) for (const each of this.#asked) each.read = 0;
        // The client lacks these, also if it was sent them before and refused them.
        asked.read = first - 1;
        const records = await source.headers(first, count, signal);
        const last = first - 1 + Math.min(count, recordCount(records));
        return (now) => {
          asked.read = last;
          this.#client.onHeaders(request, records, now);
        };
      }
      case "difficulties": {
        const records = await source.difficulties(first, count, signal);
        return (now) => {
          this.#client.onDifficulties(request, records, now);
        };
      }
    }
  }

  /** Reports how far the client is, and whether all chains have been followed to their ends. */
  #reportProgress(): void {
    const isSynced = this.#client.isSettled();
    // The client drops the claims of all other sources too.
    const counted = this.#asked.filter(
      ({ state, claim }) => claim > 0 && ["connecting", "following"].includes(state),
    );
    const read = Math.max(
      this.#client.tip()?.height ?? 0,
      ...counted.map(({ read, claim }) => Math.min(read, claim)),
    );
    const target = Math.max(read, ...counted.map(({ claim }) => claim));
    const at = performance.now();
    const isNew = read !== this.#reported.read || target !== this.#reported.target;
    if (counted.length > 0 && isNew && (isSynced || at - this.#reported.at >= PROGRESS)) {
      this.#reported = { read, target, at };
      this.#send({ kind: "progress", read, target });
    }
    if (isSynced && !this.#isSynced) this.#send({ kind: "synced" });
    this.#isSynced = isSynced;
  }

  async #find(id: number, txid: string): Promise<void> {
    const stop = new AbortController();
    this.#finds.set(id, stop);
    const nodes = () =>
      this.#asked
        .filter(({ state }) => state !== "invalid" && state !== "other-network")
        .flatMap(({ source }) => (source instanceof NodeSource ? [source.node] : []));
    const chain = {
      idAt: (height: number) => {
        const found = this.#client.blockId(height);
        return found && hex(found);
      },
      tip: () => this.#client.tip()?.height,
    };
    const { network } = this.#args;
    const found = await findTransaction(
      {
        nodes,
        chain,
        examine: (block) => this.#wasm.examine(block, undefined, undefined, undefined, network),
      },
      txid,
      stop.signal,
    );
    this.#finds.delete(id);
    this.#send({ kind: "answer", id, answer: found });
  }
}

function begun(config: ClientConfig, start: Start): ChainClient {
  switch (start.kind) {
    case "anchors":
      return config.fromAnchors();
    case "between":
      return config.between(Float64Array.from(start.heights), start.ids, start.works);
    case "checkpoint": {
      const { height, id, work, timestamps, difficulties, seedHeights, seedIds } = start.checkpoint;
      return config.atCheckpoint(height, id, work, timestamps, difficulties, seedHeights, seedIds);
    }
  }
}

/** Returns the number of records, each of which begins with its length. */
function recordCount(records: Uint8Array): number {
  let [count, at] = [0, 0];
  for (; at < records.length; at += 1 + (records[at] ?? 0)) count += 1;
  if (at === records.length) return count;
  throw new RandomXError("node-invalid", "headers: the last one is cut off");
}
