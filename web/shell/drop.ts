/** Files that are dropped anywhere on the page. */

/** Takes the files. */
type Taker = (file: File) => void;

let taker: Taker | undefined;
let waiting: File | undefined;

/** Accepts files in the whole page. In a view that takes none, the page opens the address of one that does. */
export function watchDrops(address: string): void {
  // A file field takes its own files.
  const isOurs = ({ target }: DragEvent): boolean =>
    !(target instanceof HTMLInputElement && target.type === "file");
  const show = (isOver: boolean): void => {
    document.documentElement.toggleAttribute("data-dropping", isOver);
  };
  addEventListener("dragover", (event) => {
    if (!isOurs(event) || !event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    show(true);
  });
  addEventListener("dragleave", ({ relatedTarget }) => {
    if (!relatedTarget) show(false);
  });
  addEventListener("drop", (event) => {
    show(false);
    const [file] = event.dataTransfer?.files ?? [];
    if (!file || !isOurs(event)) return;
    event.preventDefault();
    if (taker) {
      taker(file);
    } else {
      waiting = file;
      location.hash = address;
    }
  });
}

/** Takes dropped files, and one that was dropped before, until the returned function is called. */
export function takeDrops(take: Taker): () => void {
  taker = take;
  const file = waiting;
  waiting = undefined;
  if (file) take(file);
  return () => {
    if (taker === take) taker = undefined;
  };
}
