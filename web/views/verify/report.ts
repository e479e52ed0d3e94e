/** The report of one block: the progress of its verification, and all details. */
import { RandomXError, type Progress } from "../../../wasm/js/index.js";
import { engine } from "../../engine/engine.js";
import { copyButton } from "../../shell/copy.js";
import { download } from "../../shell/download.js";
import { find, make } from "../../shell/page.js";
import { ProgressBar } from "../../shell/progress.js";
import { duration, failure, hex, moment, whole } from "../../shell/words.js";
import { Checks, OF_A_BLOCK } from "./checks.js";
import { epochLine } from "./epoch.js";
import { examinedBy } from "./examined.js";
import { partsOfBlock, partsOfHashingBlob, timestampOf, type Part } from "./parts.js";
import { showProof } from "./proof.js";
import { asJson, asLink, type Answer } from "./result.js";
import { Strip } from "./strip.js";
import { bytesOf, type Subject } from "./subject.js";

/** The state of a verification, which the style depends on. */
type State =
  "idle" | "waiting" | "filling" | "hashing" | "valid" | "invalid" | "failed" | "cancelled";

type PartName =
  "origin" | "title" | "verdict" | "made" | "id" | "seed-hash" | "hash" | "hash-time" | "epoch";

/** The shown block. */
interface Shown {
  subject: Subject;
  parts: Part[];
  /** Aborts its verification. */
  abort: AbortController;
  answer?: Answer;
}

/** The section of the page that shows one block after another. */
export class Report {
  readonly #root: HTMLElement;
  readonly #bar: ProgressBar;
  readonly #strip: Strip;
  readonly #checks: Checks;
  #shown: Shown | undefined;

  constructor(root: HTMLElement) {
    this.#root = root;
    this.#bar = new ProgressBar({
      label: "Filling the cache",
      onCancel: () => this.#shown?.abort.abort(),
    });
    find(root, "[data-place=progress]", HTMLElement).append(this.#bar.element);
    this.#strip = new Strip(this.#place("strip"), this.#place("parts"));
    this.#checks = new Checks(find(root, "ol.checks", HTMLOListElement), (parts) => {
      this.#strip.light(parts);
    });
    find(root, "#again", HTMLButtonElement).addEventListener("click", () => {
      if (this.#shown) void this.verify(this.#shown.subject);
    });
    this.#wireCopies();
  }

  /** Aborts the verification. */
  close(): void {
    this.#shown?.abort.abort();
    this.#shown = undefined;
  }

  /** Verifies a block with well-formed fields, and shows it instead of the previous one. Never rejects. */
  async verify(subject: Subject): Promise<void> {
    const shown = this.#begin(subject);
    const { signal } = shown.abort;
    const start = performance.now();
    let filled = start;
    const onProgress = ({ phase, done }: Progress): void => {
      if (phase !== "cache" || this.#shown !== shown) return;
      // If the first call reports 1, the cache was in memory already.
      if (done < 1 || this.#root.dataset.state === "filling") filled = performance.now();
      this.#fill(done, filled - start);
    };
    this.#checks.expect(OF_A_BLOCK, (name) => examinedBy(name, subject, shown.parts, undefined));
    try {
      const randomx = await engine();
      const answer = await randomx.verifyBlock(subject, { signal, onProgress });
      if (this.#shown !== shown) return;
      if (answer.hash) this.#show("hash-time", duration(performance.now() - filled));
      await this.#answer(shown, answer);
    } catch (error) {
      if (this.#shown !== shown) return;
      const cancelled = error instanceof RandomXError && error.code === "aborted";
      this.#bar.end("");
      this.#enter(cancelled ? "cancelled" : "failed", failure(error));
    }
  }

  /** Shows a block that was verified elsewhere instead of the previous one. */
  async show(subject: Subject, answer: Answer): Promise<void> {
    await this.#answer(this.#begin(subject), answer);
  }

  #begin(subject: Subject): Shown {
    this.#shown?.abort.abort();
    const hex = bytesOf(subject);
    const parts = subject.block ? partsOfBlock(hex) : partsOfHashingBlob(hex);
    const shown: Shown = { subject, parts, abort: new AbortController() };
    this.#shown = shown;
    const { height, difficulty, expectedId, seedHash } = subject;
    const timestamp = timestampOf(parts);
    this.#show("origin", subject.origin);
    this.#show("title", height === undefined ? "A block" : `Block ${whole(height)}`);
    this.#show("made", timestamp === undefined ? "cannot be read" : moment(timestamp));
    this.#show("id", expectedId ?? "");
    this.#show("seed-hash", seedHash);
    for (const name of ["hash", "hash-time", "epoch"] as const) this.#show(name, "");
    showProof(this.#place("proof"), BigInt(difficulty), null);
    this.#strip.show(parts);
    this.#bar.reset("waiting");
    this.#enableActions(false);
    this.#enter("waiting", "Starting…");
    return shown;
  }

  async #answer(shown: Shown, answer: Answer): Promise<void> {
    const { subject, parts } = shown;
    shown.answer = answer;
    const { valid, hash, id, height, checks } = answer;
    if (id) this.#show("id", hex(id));
    this.#show("hash", hash ? hex(hash) : "none: there is nothing to hash");
    this.#show("title", height === null ? "A block" : `Block ${whole(height)}`);
    showProof(this.#place("proof"), BigInt(subject.difficulty), hash);
    this.#checks.show(checks, (name) => examinedBy(name, subject, parts, answer));
    this.#enableActions(true);
    const failed = checks.find(({ passed }) => passed === false);
    if (valid) this.#enter("valid", "Verified: the hash meets the difficulty. The work was done.");
    else this.#enter("invalid", `Rejected: ${failed?.detail ?? "the block is not valid"}.`);
    await this.#showEpoch(shown, height);
  }

  /** Shows the seed epoch. The package has Monero's rule for the height of the key. */
  async #showEpoch(shown: Shown, height: number | null): Promise<void> {
    if (height === null) {
      const words =
        "A hashing blob does not contain the block’s height. Enter the height to see the epoch.";
      this.#place("epoch").replaceChildren(make("p", words));
      return;
    }
    const { signal } = shown.abort;
    try {
      const seedHeight = await (await engine()).seedHeight(height, { signal });
      const timestamp = timestampOf(shown.parts);
      if (this.#shown !== shown) return;
      this.#place("epoch").replaceChildren(epochLine({ height, seedHeight, timestamp }));
    } catch (error) {
      if (this.#shown === shown) this.#show("epoch", failure(error));
    }
  }

  #fill(done: number, ms: number): void {
    this.#bar.set(done);
    if (done < 1) {
      this.#enter("filling", "Filling the key’s cache, 256 MiB…");
      return;
    }
    this.#bar.end(ms > 0 ? `filled in ${duration(ms)}` : "already in memory");
    this.#enter("hashing", "Hashing…");
  }

  #enter(state: State, words: string): void {
    if (this.#root.dataset.state === state) return;
    this.#root.dataset.state = state;
    this.#show("verdict", words);
  }

  #wireCopies(): void {
    const answered = (use: (subject: Subject, answer: Answer) => string) => (): string => {
      const { subject, answer } = this.#shown ?? {};
      return subject && answer ? use(subject, answer) : "";
    };
    const json = answered(asJson);
    const save = make("button", "Save as JSON");
    save.type = "button";
    save.className = "quiet";
    save.addEventListener("click", () => {
      const height = this.#shown?.answer?.height;
      download(`block-${height ?? "verified"}.json`, "application/json", json());
    });
    const address = copyButton(
      "a link",
      answered((subject) => asLink(subject) ?? ""),
      "Copy link",
    );
    address.dataset.action = "link";
    const actions = this.#place("actions");
    actions.append(copyButton("the result", json, "Copy result"), save, address);
    for (const [name, what] of [
      ["id", "the id"],
      ["hash", "the hash"],
      ["seed-hash", "the seed hash"],
      ["bytes", "the bytes"],
    ] as const) {
      const copied = (): string => {
        if (name === "bytes") return this.#shown ? bytesOf(this.#shown.subject) : "";
        return this.#place(name).textContent;
      };
      find(this.#root, `[data-copy="${name}"]`, HTMLElement).append(copyButton(what, copied));
    }
  }

  #enableActions(isEnabled: boolean): void {
    const actions = this.#place("actions");
    for (const button of actions.querySelectorAll("button")) button.disabled = !isEnabled;
    const address = find(actions, "[data-action=link]", HTMLButtonElement);
    address.hidden = !this.#shown || asLink(this.#shown.subject) === undefined;
  }

  #show(part: PartName, text: string): void {
    this.#place(part).textContent = text;
  }

  #place(name: string): HTMLElement {
    return find(this.#root, `[data-place="${name}"]`, HTMLElement);
  }
}
