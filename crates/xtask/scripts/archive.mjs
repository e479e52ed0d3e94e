/** Archives whose bytes depend on the files, their order and `SOURCE_DATE_EPOCH` alone. */
import { chmodSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { unzipSync, zipSync } from "fflate";
import { create, extract } from "tar";

/** Zip files begin in this year. */
const OLDEST = Date.UTC(1980, 0, 1) / 1000;

/** A zip file's number for systems with Unix's permissions. */
const UNIX = 3;

/**
 * Packs the folder `name`, which is inside `parent`, into the folder `output`: as .zip if `isZip`, else as
 * .tar.gz. `files` are the names of its files, `programs` those that users start. Returns the archive's name.
 */
export async function pack({ parent, name, files, programs, isZip, output }) {
  const date = new Date(Number(process.env.SOURCE_DATE_EPOCH ?? OLDEST) * 1000);
  const mode = (file) => (programs.includes(file) ? 0o755 : 0o644);
  const archive = `${name}${isZip ? ".zip" : ".tar.gz"}`;
  if (isZip) {
    // `zipSync` writes local times, which this makes equal on every machine.
    process.env.TZ = "UTC";
    const entry = (file) => [
      readFileSync(join(parent, name, file)),
      { mtime: date, level: 9, os: UNIX, attrs: (0o100_000 | mode(file)) << 16 },
    ];
    const entries = files.map((file) => [`${name}/${file}`, entry(file)]);
    writeFileSync(join(output, archive), zipSync(Object.fromEntries(entries)));
    return archive;
  }
  for (const file of files) chmodSync(join(parent, name, file), mode(file));
  // Without owners, whose numbers would differ.
  const fixed = { portable: true, noPax: true, mtime: date };
  const options = { cwd: parent, gzip: { level: 9 }, file: join(output, archive) };
  await create(
    { ...options, ...fixed },
    files.map((file) => `${name}/${file}`),
  );
  return archive;
}

/** Makes all files below a folder readable for everybody: npm packs some permissions as a user's umask left them. */
export function makeReadable(folder) {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) chmodSync(join(entry.parentPath, entry.name), 0o644);
  }
}

/** Unpacks an archive of {@link pack} into a folder. */
export function unpack(archive, folder) {
  if (!archive.endsWith(".zip")) {
    extract({ file: archive, cwd: folder, sync: true });
    return;
  }
  for (const [path, content] of Object.entries(unzipSync(readFileSync(archive)))) {
    const [inner, file] = path.split("/");
    mkdirSync(join(folder, inner), { recursive: true });
    writeFileSync(join(folder, inner, file), content);
  }
}
