/** The report of one block: the progress of its verification, and all details. */
import { RandomXError, type BlockStatus, type Progress } from "../../../wasm/js/index.js";
import { engine } from "../../engine/engine.js";
import { copyButton } from "../../shell/copy.js";
import { download } from "../../shell/download.js";
import { causeOf } from "../../shell/load.js";
import { find, isDisabled, make, setDisabled } from "../../shell/page.js";
import { ProgressBar } from "../../shell/progress.js";
import { duration, failure, hex, moment, whole } from "../../shell/words.js";
import { heightOf, isBlock, type Answer } from "./answer.js";
import { Checks, NO_ANSWER, OF_A_BLOCK } from "./checks.js";
import { epochLine } from "./epoch.js";
import { examinedBy } from "./examined.js";
import { headline } from "./headline.js";
import { partsOfBlock, partsOfHashingBlob, timestampOf, type Part } from "./parts.js";
import { showProof } from "./proof.js";
import { asJson, asLink } from "./result.js";
import { Strip } from "./strip.js";
import { altered, bytesOf, type Subject } from "./subject.js";

/** The state of a verification, which the style depends on. */
type State =
  "idle" | "waiting" | "filling" | "hashing" | "valid" | "invalid" | "failed" | "cancelled";

/** The state after each judgement. */
const STATES: Record<BlockStatus, State> = {
  valid: "valid",
  unproven: "failed",
  "update-needed": "failed",
  invalid: "invalid",
};

type PartName =
  "origin" | "title" | "verdict" | "made" | "id" | "seed-hash" | "hash" | "hash-time" | "epoch";

/** The shown block. */
interface Shown {
  subject: Subject;
  /** The block before the visitor changed one of its bytes, and that byte. */
  before?: { subject: Subject; byte: number } | undefined;
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
  readonly #putBack: HTMLButtonElement;
  #shown: Shown | undefined;
  #turn = 0;

  constructor(root: HTMLElement) {
    this.#root = root;
    this.#bar = new ProgressBar({
      label: "Filling the cache",
      onCancel: () => this.#shown?.abort.abort(),
    });
    find(root, "[data-place=progress]", HTMLElement).append(this.#bar.element);
    this.#strip = new Strip(this.#place("strip"), this.#place("parts"), (byte) => {
      this.#alter(byte);
    });
    this.#checks = new Checks(find(root, "ol.checks", HTMLOListElement), (parts) => {
      this.#strip.light(parts);
    });
    find(root, "#again", HTMLButtonElement).addEventListener("click", () => {
      if (this.#shown) void this.#verify(this.#shown.subject, this.#shown.before);
    });
    this.#putBack = find(root, "#put-back", HTMLButtonElement);
    this.#putBack.addEventListener("click", () => {
      this.#restore();
    });
    this.#wireDetails();
    this.#wireCopies();
  }

  /** The number of the newest turn: a block that is shown or was chosen to be. */
  get turn(): number {
    return this.#turn;
  }

  /** Begins a turn for a block that arrives later. It is out of date once `turn` differs. */
  takeTurn(): number {
    this.#turn += 1;
    return this.#turn;
  }

  /** Shows words instead of the previous block, until another one arrives. Begins its turn. */
  clear(words: string): number {
    this.close();
    this.#root.dataset.state = "idle";
    this.#show("origin", "");
    this.#show("title", words);
    return this.takeTurn();
  }

  /** Aborts the verification. */
  close(): void {
    this.#shown?.abort.abort();
    this.#shown = undefined;
  }

  /** Verifies a block with well-formed fields, and shows it instead of the previous one. Never rejects. */
  async verify(subject: Subject): Promise<void> {
    await this.#verify(subject, undefined);
  }

  /** Shows a block that was verified elsewhere instead of the previous one. */
  async show(subject: Subject, answer: Answer): Promise<void> {
    const rejected = answer.status === "invalid" ? { rejected: answer } : {};
    await this.#answer(this.#begin({ ...subject, ...rejected }, undefined), answer);
  }

  /** Changes a byte, and puts back one that was changed before. The same byte only goes back. */
  #alter(byte: number): void {
    if (!this.#shown) return;
    const { subject, before } = this.#shown;
    if (before?.byte === byte) {
      this.#restore();
      return;
    }
    const original = before?.subject ?? subject;
    void this.#verify(altered(original, byte), { subject: original, byte });
  }

  /** Puts the changed byte back. */
  #restore(): void {
    const { before } = this.#shown ?? {};
    if (!before) return;
    const hadFocus = document.activeElement === this.#putBack;
    void this.#verify(before.subject, undefined);
    if (hadFocus) find(this.#root, "#again", HTMLButtonElement).focus();
  }

  async #verify(subject: Subject, before: Shown["before"]): Promise<void> {
    const shown = this.#begin(subject, before);
    if (subject.rejected && !before) {
      await this.#answer(shown, subject.rejected);
      return;
    }
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
      const randomx = await engine(signal);
      const answer = await randomx.verifyBlock(subject, { signal, onProgress });
      if (this.#shown !== shown) return;
      if (answer.hash) this.#show("hash-time", duration(performance.now() - filled));
      await this.#answer(shown, answer);
    } catch (error) {
      if (this.#shown !== shown) return;
      const cancelled = error instanceof RandomXError && error.code === "aborted";
      const words = failure(await causeOf(error));
      if (this.#shown !== shown) return;
      this.#bar.end("");
      for (const name of ["id-row", "hash-row"]) this.#place(name).hidden = true;
      this.#show("epoch", "There is no result, so no epoch is shown.");
      this.#checks.show(NO_ANSWER, (name) => examinedBy(name, subject, shown.parts, NO_ANSWER));
      this.#enter(cancelled ? "cancelled" : "failed", words);
    }
  }

  #begin(subject: Subject, before: Shown["before"]): Shown {
    this.#shown?.abort.abort();
    this.takeTurn();
    const hex = bytesOf(subject);
    const parts = subject.block ? partsOfBlock(hex) : partsOfHashingBlob(hex);
    const shown: Shown = { subject, before, parts, abort: new AbortController() };
    this.#shown = shown;
    const timestamp = timestampOf(parts);
    this.#show("origin", subject.origin);
    this.#show("title", titleOf(shown, null));
    this.#putBack.hidden = before === undefined;
    this.#show("made", timestamp === undefined ? "cannot be read" : moment(timestamp));
    this.#show("seed-hash", subject.seedHash);
    for (const name of ["id", "hash", "hash-time", "epoch"] as const) this.#show(name, "");
    for (const name of ["id-row", "hash-row"]) this.#place(name).hidden = false;
    showProof(this.#place("proof"), subject, null);
    this.#strip.show(parts, before?.byte);
    this.#bar.element.hidden = false;
    this.#bar.reset("waiting");
    this.#enableActions(false);
    this.#enter("waiting", "Starting…");
    return shown;
  }

  async #answer(shown: Shown, answer: Answer): Promise<void> {
    const { subject, parts, before } = shown;
    // No cache was filled for a block that was verified elsewhere, or rejected before it was hashed.
    if (this.#root.dataset.state !== "hashing") this.#bar.element.hidden = true;
    const { hash, id, checks } = answer;
    // The first byte is the version. A real block with another one is invalid under any rules.
    const status = before && answer.status === "update-needed" ? "invalid" : answer.status;
    const height = heightOf(answer);
    shown.answer = { ...answer, status };
    this.#show("id", id ? hex(id) : "");
    this.#show("hash", hash ? hex(hash) : "");
    // The checks say why there is none.
    this.#place("id-row").hidden = !id;
    this.#place("hash-row").hidden = !hash;
    this.#show("title", titleOf(shown, height));
    showProof(this.#place("proof"), subject, hash);
    this.#checks.show(shown.answer, (name) => examinedBy(name, subject, parts, answer));
    this.#enableActions(true);
    this.#enter(STATES[status], headline({ status, checks }, before !== undefined));
    await this.#showEpoch(shown, answer);
  }

  /** Shows the seed epoch. The package has Monero's rule for the height of the key. */
  async #showEpoch(shown: Shown, answer: Answer): Promise<void> {
    const height = heightOf(answer);
    if (height === null) {
      const words = isBlock(answer)
        ? "A hashing blob does not contain the block’s height. Enter the height to see the epoch."
        : "The bytes cannot be read as a block, so they belong to no epoch.";
      this.#place("epoch").replaceChildren(make("p", words));
      return;
    }
    const { signal } = shown.abort;
    try {
      const seedHeight = await (await engine(signal)).seedHeight(height, { signal });
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

  /** Opens the details where there is room for them. */
  #wireDetails(): void {
    const isWide = matchMedia("(width >= 40rem)").matches;
    for (const details of this.#root.querySelectorAll("details")) details.open = isWide;
    const button = find(this.#root, "#examined", HTMLButtonElement);
    const show = (shown: boolean): void => {
      this.#root.toggleAttribute("data-examined", shown);
      button.ariaPressed = String(shown);
    };
    show(isWide);
    button.addEventListener("click", () => {
      show(!this.#root.hasAttribute("data-examined"));
    });
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
      if (isDisabled(save)) return;
      const { answer } = this.#shown ?? {};
      const height = answer ? heightOf(answer) : null;
      download(`block-${height ?? "verified"}.json`, "application/json", json());
    });
    const address = copyButton(
      "",
      answered((subject) => asLink(subject) ?? ""),
      "Copy link",
    );
    address.dataset.action = "link";
    const actions = this.#place("actions");
    actions.append(copyButton("", json, "Copy result"), save, address);
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
    for (const button of actions.querySelectorAll("button")) setDisabled(button, !isEnabled);
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

/** Names a block. A hashing blob does not contain its height, so nobody can tell which block it is. */
function titleOf({ subject, before }: Shown, height: number | null): string {
  const { title, block } = subject;
  const own = block !== undefined && height !== null ? `Block ${whole(height)}` : "A block";
  const name = title ?? (block === undefined ? "A hashing blob" : own);
  return before ? `${name}, byte ${whole(before.byte)} changed` : name;
}
