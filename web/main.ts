/** The page: its frame, and the view that the address asks for. */
import { Shell } from "./shell/shell.js";
import { startTheme } from "./shell/theme.js";

startTheme();
new Shell().start();
