/** The archives of programs: .tar.gz for Unix, .zip for Windows. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { unzipSync } from "fflate";
import { list } from "tar";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { npm, npmCommand } from "../programs.js";

interface Contents {
  parent: string;
  name: string;
  files: string[];
  programs: string[];
  isZip: boolean;
  output: string;
}

interface Archives {
  makeReadable: (folder: string) => void;
  pack: (contents: Contents) => Promise<string>;
  unpack: (archive: string, folder: string) => void;
}

interface Sums {
  checkSums: (folder: string, files: string[]) => void;
  writeSums: (folder: string, files: string[]) => void;
}

const scripts = fileURLToPath(new URL("../../crates/xtask/scripts", import.meta.url));
const { makeReadable, pack, unpack } = (await import(join(scripts, "archive.mjs"))) as Archives;
const { checkSums, writeSums } = (await import(join(scripts, "sums.mjs"))) as Sums;

const work = mkdtempSync(join(tmpdir(), "randomx-web-archives-"));
const name = "randomx-1.2.3-system";
const files = ["LICENSE", "randomx"];

/** A commit's time. */
const COMMIT = "1700000000";

/** Returns a file's permissions. Windows has none, so there the tests compare undefined with undefined. */
function permissions(mode: number | undefined): number | undefined {
  return mode === undefined || process.platform === "win32" ? undefined : mode & 0o777;
}

beforeAll(() => {
  vi.stubEnv("SOURCE_DATE_EPOCH", COMMIT);
  mkdirSync(join(work, name));
  writeFileSync(join(work, name, "LICENSE"), "terms\n".repeat(1000));
  writeFileSync(
    join(work, name, "randomx"),
    Uint8Array.from({ length: 5000 }, (_, at) => at),
  );
  writeSums(join(work, name), files);
});

afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(work, { recursive: true });
});

/** Packs the files with a machine's settings. Returns the archive's path. */
async function packed(isZip: boolean, zone: string, mode: number): Promise<string> {
  const output = mkdtempSync(join(work, "output-"));
  vi.stubEnv("TZ", zone);
  const all = [...files, "SHA256SUMS"];
  for (const file of all) {
    const content = readFileSync(join(work, name, file));
    rmSync(join(work, name, file));
    writeFileSync(join(work, name, file), content, { mode });
  }
  const options = { parent: work, name, files: all, programs: ["randomx"], isZip, output };
  return join(output, await pack(options));
}

test.each([false, true])("an archive depends on its files alone (zip: %s)", async (isZip) => {
  const here = await packed(isZip, "UTC", 0o600);
  const elsewhere = await packed(isZip, "Asia/Kolkata", 0o777);
  expect(here.endsWith(isZip ? `${name}.zip` : `${name}.tar.gz`)).toBe(true);
  expect(readFileSync(here).equals(readFileSync(elsewhere))).toBe(true);
  const unpacked = mkdtempSync(join(work, "unpacked-"));
  unpack(here, unpacked);
  expect(readdirSync(unpacked)).toEqual([name]);
  checkSums(join(unpacked, name), files);
  if (!isZip) {
    const { mode } = statSync(join(unpacked, name, "randomx"));
    expect(permissions(mode)).toBe(permissions(0o755));
  }
});

test("a tar archive has the commit's time, no owner, and programs that start", async () => {
  const entries: unknown[] = [];
  const file = await packed(false, "UTC", 0o600);
  await list({
    file,
    onReadEntry: ({ path, mode, mtime, uid, uname }) => {
      entries.push({ path, mode: permissions(mode), mtime: mtime?.getTime(), uid, uname });
    },
  });
  const entry = (path: string, mode: number): unknown => ({
    ...{ path: `${name}/${path}`, mode: permissions(mode), mtime: 1_700_000_000_000 },
    ...{ uid: undefined, uname: "" },
  });
  expect(entries).toEqual([
    entry("LICENSE", 0o644),
    entry("randomx", 0o755),
    entry("SHA256SUMS", 0o644),
  ]);
});

test("a zip archive has the commit's time", async () => {
  vi.stubEnv("TZ", "America/New_York");
  const content = readFileSync(await packed(true, "America/New_York", 0o600));
  expect(Object.keys(unzipSync(content))).toEqual(
    [...files, "SHA256SUMS"].map((file) => `${name}/${file}`),
  );
  // 2023-11-14 22:13:20, in the form of DOS.
  expect(content.readUInt16LE(12)).toBe(((2023 - 1980) << 9) | (11 << 5) | 14);
  expect(content.readUInt16LE(10)).toBe((22 << 11) | (13 << 5) | (20 / 2));
});

test("a zip archive has the commit's time when clocks change", async () => {
  // 2026-03-29 01:30:00, half an hour after Berlin's clocks went forward by an hour.
  vi.stubEnv("SOURCE_DATE_EPOCH", "1774747800");
  onTestFinished(() => {
    vi.stubEnv("SOURCE_DATE_EPOCH", COMMIT);
  });
  const content = readFileSync(await packed(true, "Europe/Berlin", 0o600));
  expect(content.readUInt16LE(12)).toBe(((2026 - 1980) << 9) | (3 << 5) | 29);
  expect(content.readUInt16LE(10)).toBe((1 << 11) | (30 << 5));
});

test("a package depends on its files alone", () => {
  const packages = [0o600, 0o644, 0o755].map((mode) => {
    const folder = mkdtempSync(join(work, "package-"));
    mkdirSync(join(folder, "dist"));
    writeFileSync(join(folder, "package.json"), '{ "name": "some", "version": "1.2.3" }');
    for (const file of ["README.md", "dist/index.js"]) writeFileSync(join(folder, file), "");
    for (const file of ["package.json", "README.md", "dist/index.js"]) {
      chmodSync(join(folder, file), mode);
    }
    makeReadable(folder);
    const output = mkdtempSync(join(work, "output-"));
    npm(["pack", folder, "--silent", "--pack-destination", output]);
    return readFileSync(join(output, "some-1.2.3.tgz"));
  });
  for (const other of packages) expect(other.equals(packages[0] as Buffer)).toBe(true);
});

test("everybody may read the staged package", () => {
  const umask = process.umask(0o077);
  onTestFinished(() => {
    process.umask(umask);
  });
  const folder = join(mkdtempSync(join(work, "staged-")), "package");
  execFileSync(process.execPath, [join(scripts, "stage.mjs"), folder]);
  const staged = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = staged.filter((entry) => entry.isFile());
  expect(files.length).toBeGreaterThan(5);
  for (const { parentPath, name } of files) {
    const { mode } = statSync(join(parentPath, name));
    expect(permissions(mode), name).toBe(permissions(0o644));
  }
});

test("npm is a program on Unix, and on Windows a script beside Node.js", () => {
  expect(npmCommand("linux", "/usr/bin/node")).toEqual(["npm"]);
  const nodejs = "C:\\Program Files\\nodejs";
  expect(npmCommand("win32", `${nodejs}\\node.exe`)).toEqual([
    `${nodejs}\\node.exe`,
    `${nodejs}\\node_modules\\npm\\bin\\npm-cli.js`,
  ]);
});

test("a list of hashes takes the place of an earlier one as a whole", () => {
  const folder = join(work, "replaced-sums");
  mkdirSync(folder);
  writeFileSync(join(folder, "a"), "a");
  writeSums(folder, ["a"]);
  const earlier = join(folder, "earlier");
  linkSync(join(folder, "SHA256SUMS"), earlier);
  const before = readFileSync(earlier, "utf8");
  writeFileSync(join(folder, "a"), "b");
  writeSums(folder, ["a"]);
  checkSums(folder, ["a"]);
  expect(readFileSync(earlier, "utf8")).toBe(before);
  expect(readdirSync(folder).sort()).toEqual(["SHA256SUMS", "a", "earlier"]);
});

test("a list of hashes notices other, missing and additional files", () => {
  const folder = join(work, "sums");
  mkdirSync(folder);
  writeFileSync(join(folder, "a"), "a");
  writeFileSync(join(folder, "b"), "b");
  writeSums(folder, ["a", "b"]);
  checkSums(folder, ["b", "a"]);
  expect(() => {
    checkSums(folder, ["a"]);
  }).toThrow("SHA256SUMS: expected a, got a, b");
  expect(() => {
    checkSums(folder, ["a", "b", "c"]);
  }).toThrow("expected a, b, c, got a, b");
  writeFileSync(join(folder, "b"), "c");
  expect(() => {
    checkSums(folder, ["a", "b"]);
  }).toThrow("SHA256SUMS: b has another hash");
});
