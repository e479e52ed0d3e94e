/** Links to a folder. Arguments: the folder, the link. On Windows, a junction needs no privilege. */
import { symlinkSync } from "node:fs";

const [folder, link] = process.argv.slice(2);
symlinkSync(folder, link, "junction");
