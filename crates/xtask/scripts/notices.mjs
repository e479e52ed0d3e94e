/** The licence texts of the crates in a build. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { optionalText } from "./crates.mjs";

/** Files with terms or names that copies must carry. */
const LEGAL = /^(?:copying|copyright|licen[cs]e|notice|unlicense)(?!.*\.rs$)/iu;

/** The licence that most crates choose whose archives lack its text. */
const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

const RULE = "-".repeat(80);

/** Returns a text with each licence once, under the names of the crates that carry it. */
export function notices(product, crates) {
  const linked = crates.filter(({ isOurs }) => !isOurs);
  const users = new Map();
  const apache = apacheLicence(linked);
  for (const crate of linked) {
    for (const text of legalTexts(crate, apache)) {
      users.set(text, [...(users.get(text) ?? []), `${crate.name} ${crate.version}`]);
    }
  }
  const standard = "Copyright (c) The Rust Project Contributors";
  users.set(`${standard}\n\n${MIT}`, ["Rust's standard library"]);
  const list = linked.map(({ name, version, license }) => `${name} ${version}: ${license}`);
  const sections = [...users].map(([text, names]) => `${names.join(", ")}\n\n${text}\n`);
  const intro = `${product} contains code of these projects, under these licences:`;
  const all = [...list, "Rust's standard library: MIT OR Apache-2.0"].join("\n");
  return `${intro}\n\n${all}\n\n${[...sections].map((section) => `${RULE}\n${section}`).join("\n")}`;
}

/** Returns the text of the Apache licence, from the first archive that has it as it was published. */
function apacheLicence(crates) {
  for (const { folder } of crates) {
    const text = optionalText(join(folder, "LICENSE-APACHE"))?.replaceAll("\r\n", "\n").trim();
    if (text?.includes("Copyright [yyyy] [name of copyright owner]")) return text;
  }
  return undefined;
}

/** Whether a file has the licence that may be chosen instead of the one beside it, as zstd's `COPYING` has the GPL. */
function isOtherChoice({ name, parentPath }) {
  return name === "COPYING" && existsSync(join(parentPath, "LICENSE"));
}

/** Returns the texts in a crate's archive. If it has none of its own, also its authors and the licence's text. */
function legalTexts({ name, folder, license, authors }, apache) {
  // Code of others within a crate has its terms in a subfolder.
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && LEGAL.test(entry.name) && !isOtherChoice(entry))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
  const texts = files.map((file) =>
    readFileSync(join(folder, file), "utf8").replaceAll("\r\n", "\n").trim(),
  );
  if (files.some((file) => !file.includes(sep))) return texts;
  const choices = license.split(" OR ");
  const text = choices.includes("MIT") ? MIT : choices.includes("Apache-2.0") ? apache : undefined;
  if (text === undefined) {
    throw new Error(`${name}: its archive has no text of its licence, ${license}`);
  }
  const holders = authors.length > 0 ? authors.join(", ") : `the authors of ${name}`;
  return [...texts, `Copyright (c) ${holders}\n\n${text}`];
}
