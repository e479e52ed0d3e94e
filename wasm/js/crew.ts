/** The workers of an instance: started, watched, and replaced when they are gone. */
import { Connection } from "./connection.js";
import { RandomXError, asRandomXError, type RandomXErrorCode } from "./errors.js";
import { threadCount, type Choices, type Features } from "./options.js";
import type { Cache, PlainError } from "./protocol.js";

/** A worker that has started. */
export interface Member {
  connection: Connection;
  /** Whether it has been given work. */
  isBusy: boolean;
  /** Its place in the memory of each cache. */
  place: number;
  /** The caches that it knows, by slot. */
  caches: (Cache | undefined)[];
}

/** What the owner of a crew hears. */
export interface Owner {
  /** A worker came or went. */
  changed: () => void;
  /** A worker is gone, whatever it was doing. */
  lost: () => void;
  /** There is no worker, and none can be started. */
  cannotStart: (error: RandomXError) => void;
}

/** Places in a cache's memory for workers' registers; the first of 32 is for those who fill it. */
const PLACES = { first: 1, last: 31 };

/** As many workers as were asked for, if they can be had. */
export class Crew {
  readonly #choices: Choices;
  readonly #owner: Owner;
  readonly #members: Member[] = [];
  readonly #connections = new Set<Connection>();
  #features: Features = { fusedMultiplyAdd: false, wideArithmetic: false, sharedMemory: false };
  #module: WebAssembly.Module | undefined;
  #threads = 1;
  #lastPlace = PLACES.last;
  #isStarting = false;
  #end: PlainError | undefined;
  #gone: Promise<void> | undefined;

  constructor(choices: Choices, owner: Owner) {
    this.#choices = choices;
    this.#owner = owner;
  }

  /** Workers that there are to be. */
  get threads(): number {
    return this.#threads;
  }

  /** Workers that have started. */
  get started(): number {
    return this.#members.length;
  }

  /** What the workers make use of. */
  get features(): Features {
    return this.#features;
  }

  /** Starts the first worker, which tells what the others must know; they follow. */
  async open(): Promise<Features> {
    await this.#start();
    this.#threads = threadCount(this.#choices, this.#features);
    this.fillUp();
    return this.#features;
  }

  /** The workers that have nothing to do. */
  idle(): Member[] {
    return this.#members.filter(({ isBusy }) => !isBusy);
  }

  /** Starts the workers that are missing, one after another. */
  fillUp(): void {
    if (this.#end || this.#isStarting || this.#members.length >= this.#threads) return;
    this.#start().then(
      () => {
        this.fillUp();
      },
      (thrown: unknown) => {
        if (this.#end) return;
        // Those that are there do the work of all; without any, who asked must know.
        if (this.#members.length > 0) this.#threads = this.#members.length;
        else this.#owner.cannotStart(asRandomXError(thrown));
        this.#owner.changed();
      },
    );
  }

  /** Throws what ended this crew, if it has ended. */
  check(): void {
    if (this.#end) throw new RandomXError(this.#end.code, this.#end.message);
  }

  /**
   * Ends all workers; the first reason given is the one that stays. `gone` resolves when they are
   * gone, as far as this can be known.
   */
  close(code: RandomXErrorCode, message: string): { error: RandomXError; gone: Promise<void> } {
    this.#end ??= { code, message };
    const connections = [...this.#connections];
    this.#gone ??= Promise.all(
      connections.map((connection) => connection.close(code, message)),
    ).then(() => undefined);
    this.#module = undefined;
    return { error: new RandomXError(this.#end.code, this.#end.message), gone: this.#gone };
  }

  async #start(): Promise<void> {
    this.#isStarting = true;
    try {
      const { features, lanes, wasmUrl, moneroWasmUrl, workerUrl } = this.#choices;
      const place = this.#freshPlace();
      const { connection, started } = Connection.open(
        workerUrl,
        { module: this.#module, wasmUrl, moneroWasmUrl, features, lanes, place },
        () => {
          this.#forget(connection);
        },
      );
      this.#connections.add(connection);
      const found = await started;
      this.check();
      this.#module = found.module;
      this.#features = found.features;
      this.#members.push({ connection, place, isBusy: false, caches: [] });
    } finally {
      this.#isStarting = false;
    }
    this.#owner.changed();
  }

  /** Not that of a worker that went just now: it may write on for a moment. */
  #freshPlace(): number {
    do this.#lastPlace = this.#lastPlace < PLACES.last ? this.#lastPlace + 1 : PLACES.first;
    while (this.#members.some(({ place }) => place === this.#lastPlace));
    return this.#lastPlace;
  }

  #forget(connection: Connection): void {
    this.#connections.delete(connection);
    const index = this.#members.findIndex((member) => member.connection === connection);
    const [member] = index < 0 ? [] : this.#members.splice(index, 1);
    if (!member || this.#end) return;
    this.#owner.lost();
    this.#owner.changed();
  }
}
