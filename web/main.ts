/** Starts the page: its frame, then the view that the address names. */
import { startHosted } from "./host/start.js";
import { startAria } from "./shell/aria.js";
import { watchDrops } from "./shell/drop.js";
import { nextFrame } from "./shell/page.js";
import { href } from "./shell/router.js";
import { Shell } from "./shell/shell.js";
import { startTheme } from "./shell/theme.js";

startAria();
startTheme();
watchDrops(href("verify", { from: "paste" }));
const shell = new Shell();
// Paints the frame first; starting the view is a task of its own.
void nextFrame()
  .then(() => (import.meta.env.MODE === "hosted" ? startHosted() : undefined))
  .finally(() => {
    // The page works without its service worker.
    shell.start();
  });
