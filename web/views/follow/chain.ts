/** Shows the state of a followed chain. */
import { copyButton } from "../../shell/copy.js";
import { fact, find, make, rowName, setDisabled } from "../../shell/page.js";
import { ProgressBar } from "../../shell/progress.js";
import { bytes, moment, plural, span, whole } from "../../shell/words.js";
import { accusationNote, block, forkFigure } from "./forks.js";
import type { Settings } from "./settings.js";
import { searchedBlocks, type Lookup, type State } from "./state.js";
import type { Role } from "./tabs.js";

const STATES: Record<State["sources"][number]["state"], string> = {
  connecting: "being read",
  following: "read to its end",
  behind: "behind",
  unresponsive: "does not answer",
  "other-network": "has another chain",
  "update-needed": "has blocks of a newer version",
  invalid: "sent something false",
};

/** The part of the view below the form. */
export class ChainView {
  readonly #root: HTMLElement;
  readonly #bar = new ProgressBar({ label: "Headers read and checked" });
  /** The content of each part as JSON, so that only changes touch the page. */
  readonly #shown = new Map<string, string>();
  #state: State | undefined;
  #role: Role = "idle";
  /** The height from which the bar counts. */
  #base = 0;
  /** The last sentence about each transaction. */
  #said: string[] = [];

  constructor(root: HTMLElement) {
    this.#root = root;
    this.#part("progress").append(this.#bar.element);
  }

  /** Shows the state of the chain with these settings; nothing hides all. */
  show(state: State | undefined, role: Role, settings: Settings | undefined): void {
    this.#state = state;
    this.#role = role;
    for (const name of ["chain", "find-card"]) this.#part(name).hidden = !state;
    this.#part("forks-card").hidden = !state || state.forks.length + state.accusations.length === 0;
    if (!state) return;
    // Only a client looks for transactions.
    setDisabled(
      find(this.#root, '[data-part="find"] [type=submit]', HTMLButtonElement),
      role === "idle",
    );
    this.tick();
    this.#update("sources", state.sources, () => state.sources.map(sourceRow));
    this.#update("recent", state.recent, () => state.recent.map((each) => block(each, "li")));
    const forks = [
      state.forks.map(({ at, kind, source }) => [at, kind, source]),
      state.accusations,
    ];
    this.#update("forks", forks, () => [
      ...state.accusations.map(accusationNote),
      ...state.forks.map(forkFigure),
    ]);
    const warnings = [...Object.values(state.warnings), doubt(state)].filter(Boolean);
    this.#update("warnings", warnings, () => warnings.map(warning));
    const height = state.tip?.height ?? 0;
    const lookups = state.lookups.map((lookup) => lookupEntry(lookup, height, role));
    this.#update(
      "lookups",
      lookups.map(({ outerHTML }) => outerHTML),
      () => lookups,
    );
    this.#announce(state.lookups, role);
    const searched = searchedBlocks(state);
    this.#update("searched", searched, () => [searched]);
    const { tip, kept, beginning } = state;
    const rules = [settings?.network, settings?.fixedDifficulty];
    this.#update("tip", [tip?.id, tip?.work.toString(), kept, beginning, rules], () =>
      facts(state, settings),
    );
    this.#showProgress(state);
  }

  /** Shows what depends on the time. */
  tick(): void {
    const state = this.#state;
    if (!state) return;
    const words = headline(state, this.#role);
    this.#update("verdict", words, () => [words]);
    const more = detail(state, this.#role);
    this.#update("detail", more, () => [more]);
    this.#part("chain").dataset.state =
      isCurrent(state) && this.#role !== "idle" ? "valid" : "open";
  }

  #showProgress({ progress, isSynced, tip }: State): void {
    const isShown = !isSynced && this.#role !== "idle" && progress !== undefined;
    this.#part("progress").hidden = !isShown;
    if (!isShown) {
      this.#base = 0;
      return;
    }
    const { read, checked, target } = progress;
    const from = Math.min(read, checked ?? tip?.height ?? read);
    // Nothing is read yet, or the chain began anew.
    if (this.#base === 0 || from < this.#base) {
      this.#base = from;
      this.#bar.reset();
    }
    this.#bar.set((from - this.#base) / Math.max(1, target - this.#base));
  }

  /** Says what has changed of transactions. Their confirmations change with each block. */
  #announce(lookups: readonly Lookup[], role: Role): void {
    const words = lookups.map(
      (lookup) => `Transaction ${lookup.txid.slice(0, 8)} ${outcome(lookup, role)}`,
    );
    const news = words.filter((each) => !this.#said.includes(each));
    this.#said = words;
    if (news.length > 0 || words.length === 0)
      this.#part("outcome").replaceChildren(...news.map((each) => make("p", each)));
  }

  #update(name: string, value: unknown, make: () => (Node | string)[]): void {
    const text = JSON.stringify(value, (_key, each: unknown) =>
      typeof each === "bigint" ? each.toString() : each instanceof Uint8Array ? each.length : each,
    );
    if (this.#shown.get(name) === text) return;
    this.#shown.set(name, text);
    const part = this.#part(name);
    const focused = [...part.querySelectorAll("button")].find(
      (button) => button === document.activeElement,
    );
    const entry = focused?.parentElement?.textContent;
    part.replaceChildren(...make());
    if (!focused) return;
    // The id beside the button that copies it changes. A button that saves evidence belongs to its entry.
    const same = [...part.querySelectorAll("button")].find(
      (button) => button.matches(".copy") || button.parentElement?.textContent === entry,
    );
    same?.focus({ preventScroll: true });
  }

  #part(name: string): HTMLElement {
    return find(this.#root, `[data-part="${name}"]`, HTMLElement);
  }
}

/** Whether the chain was read to its end, and a source still shows that this is its end. */
function isCurrent({ isSynced, sources }: State): boolean {
  return isSynced && sources.some(({ state }) => state === "following");
}

/** Whether the chain was read to an end that no source shows any more. */
function isAhead({ isSynced, sources }: State): boolean {
  return isSynced && !sources.some(({ state }) => state === "following" || state === "connecting");
}

/** Whether no source can be read, so that the chain may have grown unseen. */
function isAlone({ sources }: State): boolean {
  const usable = ["connecting", "following", "behind"];
  return sources.length > 0 && !sources.some(({ state }) => usable.includes(state));
}

/** Says what a visitor can do if a source has another chain below all blocks that the page keeps. */
function doubt({ beginning, sources }: State): string {
  if (!beginning || !sources.some(({ state }) => state === "other-network")) return "";
  return (
    `A source has another chain than ${beginning.node}, which was trusted at the first start. ` +
    "If you trust the other one more, press “Forget all chains”, name it first, and follow again."
  );
}

/** Describes the state. Screen readers announce each change, so it has nothing that changes often. */
function headline(state: State, role: Role): string {
  if (role === "idle") return "Stopped. What was found so far is shown.";
  const { tip, sources } = state;
  const who = role === "listening" ? "Another tab follows; this one listens. " : "";
  const checked = tip && `block ${whole(tip.height)}`;
  if (isAlone(state)) {
    const silent = sources.every(({ state }) => state === "unresponsive");
    const words = silent ? "No source answers" : "No source can be followed";
    return `${who}${words}${checked ? `; checked up to ${checked}` : ""}.`;
  }
  if (!checked) return `${who}No proof of work is checked yet…`;
  if (isCurrent(state)) return `${who}Checked up to the newest block: ${checked}.`;
  if (isAhead(state)) {
    return `${who}No source has this page’s newest block; checked up to ${checked}.`;
  }
  return `${who}Reading headers and checking their proofs of work…`;
}

/** Describes what changes while it is read: ages and heights. */
function detail(state: State, role: Role): string {
  const { tip, progress } = state;
  if (role === "idle") return "";
  const age = tip && span(Math.max(0, Math.floor(Date.now() / 1000 - tip.timestamp)));
  if (!progress || isCurrent(state) || isAhead(state) || isAlone(state)) {
    return age === undefined ? "" : `This block is ${age} old.`;
  }
  const checked = tip ? `; checked up to block ${whole(tip.height)}, ${age ?? ""} old` : "";
  return `${headersRead(progress)}${checked}.`;
}

function headersRead({ read, target }: NonNullable<State["progress"]>): string {
  return `Headers read up to block ${whole(read)} of ${whole(target)}`;
}

function facts({ tip, kept, beginning }: State, settings: Settings | undefined): HTMLElement[] {
  if (!tip) return [];
  const id = make("code", tip.id);
  const wide = fact(
    "Its id, in hex",
    id,
    " ",
    copyButton("the id", () => tip.id),
  );
  const trusted = fact(
    "Trusted at the first start",
    beginning
      ? `${beginning.node}, about the blocks up to ${whole(beginning.height)}`
      : "no source",
  );
  for (const each of [wide, trusted]) each.className = "wide";
  const { network = "", fixedDifficulty } = settings ?? {};
  return [
    fact("Network", network),
    ...(fixedDifficulty ? [fact("Fixed difficulty", fixedDifficulty)] : []),
    fact("Newest block", whole(tip.height)),
    fact("Timestamp in it", moment(tip.timestamp)),
    fact(beginning ? "Work after the trusted blocks" : "Work up to it", whole(tip.work)),
    ...(kept === undefined ? [] : [fact("Kept in this browser", bytes(kept))]),
    wide,
    ...(beginning === undefined ? [] : [trusted]),
  ];
}

function sourceRow({ url, kind, state, reason }: State["sources"][number]): HTMLElement {
  const badge = make("span", STATES[state]);
  badge.className = "badge";
  badge.dataset.state = state === "following" ? "right" : state === "invalid" ? "wrong" : "missing";
  const cell = make("td", badge);
  if (reason) cell.append(" ", make("small", reason));
  const row = make("tr", rowName(make("code", url)), make("td", kind), cell);
  row.dataset.source = state;
  return row;
}

function warning(words: string): HTMLElement {
  const element = make("p", words);
  element.className = "problem";
  element.role = "alert";
  return element;
}

function lookupEntry(lookup: Lookup, tip: number, role: Role): HTMLElement {
  const { txid, state, height = 0 } = lookup;
  const entry = make("li", make("code", txid), ` ${outcome(lookup, role)}`);
  entry.dataset.lookup = state;
  if (state === "found") {
    const count = Math.max(0, tip - height + 1);
    entry.append(`: ${plural(count, "confirmation")}.`);
  }
  return entry;
}

/** Describes where a transaction is, or why that is unknown. */
function outcome({ state, height = 0, why = "" }: Lookup, role: Role): string {
  switch (state) {
    case "found":
      return `is in block ${whole(height)}`;
    case "missing":
    case "failed":
      return why;
    case "searching":
      return role === "idle" ? "will be looked up when you press Follow." : "is being looked for…";
  }
}
