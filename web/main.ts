/** Starts the page: its frame, then the view that the address names. */
import { nextFrame } from "./shell/page.js";
import { Shell } from "./shell/shell.js";
import { startTheme } from "./shell/theme.js";

startTheme();
const shell = new Shell();
// Paints the frame first; starting the view is a task of its own.
void nextFrame().then(() => {
  shell.start();
});
