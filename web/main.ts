/** The page: its frame, and the view that the address asks for. */
import { nextFrame } from "./shell/page.js";
import { Shell } from "./shell/shell.js";
import { startTheme } from "./shell/theme.js";

startTheme();
const shell = new Shell();
// The frame is painted first; what the view takes is a task of its own.
void nextFrame().then(() => {
  shell.start();
});
