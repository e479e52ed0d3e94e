/** Writes the list of some files' hashes into their folder. Arguments: the folder, the names of the files. */
import { writeSums } from "./sums.mjs";

const [folder, ...files] = process.argv.slice(2);
writeSums(folder, files);
