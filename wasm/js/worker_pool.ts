/** The workers of an instance: started, watched, and replaced when they die. */
import { Connection } from "./connection.js";
import { asRandomXError, errorOf, type RandomXError, type RandomXErrorCode } from "./errors.js";
import { DATASET_BYTES, enginesOf, threadCount, type Choices } from "./options.js";
import type { Cache, PlainError } from "./protocol.js";
import type { Engine, Features } from "./types.js";

/** A worker that has started. */
export interface WorkerHandle {
  connection: Connection;
  /** The works that it has: none, one, or two batches. */
  works: number;
  /** The batches among them. */
  batches: number;
  /** When it ended its last batch. */
  endedAt: number;
  /** Its place in the memory of each cache. */
  place: number;
  /** The caches that it knows, by slot. */
  caches: (Cache | undefined)[];
}

/** The listeners of a worker pool's owner. */
export interface Owner {
  /** A worker was added or removed. */
  changed: () => void;
  /** A worker died. */
  lost: () => void;
  /** There is no worker, and none can be started. */
  cannotStart: (error: RandomXError) => void;
}

/** Places for workers' registers in a cache's memory. The first of the 32 belongs to the fill. */
const PLACES = { first: 1, last: 31 };

/** How long the pool works with fewer workers after one could not start, in milliseconds. */
const RETRY_MS = 10_000;

/** A pool of as many workers as the options ask for and the system allows. */
export class WorkerPool {
  readonly #choices: Choices;
  readonly #owner: Owner;
  readonly #workers: WorkerHandle[] = [];
  readonly #connections = new Set<Connection>();
  #features: Features = { fusedMultiplyAdd: false, wideArithmetic: false, sharedMemory: false };
  #engines: readonly [Engine, ...Engine[]] = ["jit"];
  #notNative: string | undefined;
  #implementations: string | undefined;
  #hasStarted = false;
  #module: WebAssembly.Module | undefined;
  #threads = 1;
  #lastPlace = PLACES.last;
  #isStarting = false;
  /** When more workers may start, after one could not. */
  #retryAt = 0;
  /** A worker that fills caches behind the hashes, once it is needed. */
  #filler: WorkerHandle | undefined;
  #fillerIs: "wanted" | "possible" | "impossible" = "possible";
  /** When it may start again, after it could not. */
  #fillerRetryAt = 0;
  #end: PlainError | undefined;
  #gone: Promise<void> | undefined;

  constructor(choices: Choices, owner: Owner) {
    this.#choices = choices;
    this.#owner = owner;
  }

  /** Workers that the pool aims for now. After one could not start, the others work alone for a while. */
  get threads(): number {
    return (performance.now() < this.#retryAt && this.#workers.length) || this.#threads;
  }

  /** Workers that have started. */
  get started(): number {
    return this.#workers.length;
  }

  /** The features that the workers use. */
  get features(): Features {
    return this.#features;
  }

  /** The engines that the workers can use. All use native code, or none does. */
  get engines(): readonly [Engine, ...Engine[]] {
    return this.#engines;
  }

  /** Why the workers do not use native code. */
  get notNative(): string | undefined {
    return this.#notNative;
  }

  /** The implementation of each primitive that native code uses. */
  get implementations(): string | undefined {
    return this.#implementations;
  }

  /** Whether a worker holds a cache. */
  holds(slot: number, cache: Cache): boolean {
    return [...this.#workers, this.#filler].some((worker) => worker?.caches[slot] === cache);
  }

  /** The worker that fills caches behind the hashes. */
  get filler(): WorkerHandle | undefined {
    return this.#filler;
  }

  /** Whether there can be such a worker: natively, where its thread can give way to others. */
  get canFillBehind(): boolean {
    return this.#engines[0] === "native" && this.#fillerIs !== "impossible";
  }

  /** Lets that worker start again, some time after it could not. */
  retryFiller(): void {
    if (this.#fillerIs !== "impossible" || performance.now() < this.#fillerRetryAt) return;
    this.#fillerIs = "possible";
  }

  /** Starts the worker that fills behind the hashes, if there is none. */
  startFiller(): void {
    if (this.#end || this.#fillerIs !== "possible") return;
    this.#fillerIs = "wanted";
    this.#open(true).then(
      (worker) => {
        this.#filler = worker;
        this.#owner.changed();
      },
      () => {
        // The others fill all caches for now.
        this.#fillerIs = "impossible";
        this.#fillerRetryAt = performance.now() + RETRY_MS;
        this.#owner.changed();
      },
    );
  }

  /** Starts the first worker, which compiles the module for all. The others start afterwards. */
  async open(): Promise<Features> {
    await this.#start();
    this.#threads = threadCount(this.#choices, this.#features);
    this.fillUp();
    return this.#features;
  }

  /** Workers that have work. */
  get busy(): number {
    return this.#workers.length - this.idle().length;
  }

  /** Returns the workers without work. */
  idle(): WorkerHandle[] {
    return this.#workers.filter(({ works }) => works === 0);
  }

  /** Returns the workers without work, and the one that fills behind the hashes if it has none. */
  ready(): WorkerHandle[] {
    const filler = this.#filler;
    return filler?.works === 0 ? [...this.idle(), filler] : this.idle();
  }

  /** Returns the workers that hash one batch. */
  hashing(): WorkerHandle[] {
    return this.#workers.filter(({ works, batches }) => works === 1 && batches === 1);
  }

  /** Starts the missing workers, one after another. */
  fillUp(): void {
    if (this.#end || this.#isStarting || this.#workers.length >= this.threads) return;
    this.#start().then(
      () => {
        this.fillUp();
      },
      (thrown: unknown) => {
        if (this.#end) return;
        // The other workers do all the work for now. Without any, a caller must learn why.
        if (this.#workers.length > 0) this.#retryAt = performance.now() + RETRY_MS;
        else this.#owner.cannotStart(asRandomXError(thrown));
        this.#owner.changed();
      },
    );
  }

  /** Throws the reason of the end, if the pool was closed. */
  check(): void {
    if (this.#end) throw errorOf(this.#end);
  }

  /**
   * Ends all workers. The first reason given is kept. `gone` resolves when the workers are gone,
   * where the system reports that.
   */
  close(code: RandomXErrorCode, message: string): { error: RandomXError; gone: Promise<void> } {
    this.#end ??= { code, message };
    const connections = [...this.#connections];
    this.#gone ??= Promise.all(
      connections.map((connection) => connection.close(code, message)),
    ).then(() => undefined);
    this.#module = undefined;
    return { error: errorOf(this.#end), gone: this.#gone };
  }

  async #start(): Promise<void> {
    this.#isStarting = true;
    try {
      this.#workers.push(await this.#open(false));
    } finally {
      this.#isStarting = false;
    }
    this.#owner.changed();
  }

  async #open(isFiller: boolean): Promise<WorkerHandle> {
    this.check();
    const { features, lanes, givenLanes, workerUrl } = this.#choices;
    const { wasmUrl, blockWasmUrl, moneroWasmUrl, nativeUrl } = this.#choices;
    const engines = this.#hasStarted ? this.#engines : enginesOf(this.#choices);
    const addresses = { wasmUrl, blockWasmUrl, moneroWasmUrl, nativeUrl };
    const { mode, datasetBytes } = this.#choices;
    const datasets = Math.floor(datasetBytes / DATASET_BYTES);
    const place = this.#freshPlace();
    const own = { lanes, givenLanes, place, keepsCaches: this.#choices.keepCache, isFiller };
    const setting = { mode, datasets, module: this.#module, features, ...own };
    const { connection, started } = Connection.open(
      workerUrl,
      { engines, ...setting, ...addresses },
      () => {
        this.#forget(connection);
      },
    );
    this.#connections.add(connection);
    const found = await started;
    this.check();
    this.#module = found.module;
    this.#features = found.features;
    if (!this.#hasStarted) this.#notNative = found.notNative;
    this.#engines = found.engines;
    this.#implementations = found.implementations;
    this.#hasStarted = true;
    return { connection, place, works: 0, batches: 0, endedAt: 0, caches: [] };
  }

  /** Avoids the place of a worker that was just ended, because it may write for another moment. */
  #freshPlace(): number {
    do this.#lastPlace = this.#lastPlace < PLACES.last ? this.#lastPlace + 1 : PLACES.first;
    while (this.#workers.some(({ place }) => place === this.#lastPlace));
    return this.#lastPlace;
  }

  #forget(connection: Connection): void {
    this.#connections.delete(connection);
    const isFiller = this.#filler?.connection === connection;
    if (isFiller) {
      this.#filler = undefined;
      this.#fillerIs = "possible";
    }
    const index = this.#workers.findIndex((worker) => worker.connection === connection);
    const isLost = isFiller || (index >= 0 && this.#workers.splice(index, 1).length > 0);
    if (!isLost || this.#end) return;
    this.#owner.lost();
    this.#owner.changed();
  }
}
