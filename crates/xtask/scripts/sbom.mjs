/** A software bill of materials: CycloneDX 1.6, as JSON. */

/**
 * Describes a product and the crates in it. `tools` are the names and versions of the programs that built
 * it. The text depends only on the arguments and `SOURCE_DATE_EPOCH`.
 */
export function sbom({ type, name, version, license, purl, tools, crates }) {
  const root = { type, "bom-ref": name, name, version, licenses: [{ expression: license }], purl };
  const components = crates.map((crate) => ({
    type: "library",
    "bom-ref": reference(crate),
    name: crate.name,
    version: crate.version,
    ...(crate.description && { description: crate.description }),
    ...(crate.checksum && { hashes: [{ alg: "SHA-256", content: crate.checksum }] }),
    licenses: [{ expression: crate.license }],
    purl: `pkg:cargo/${crate.name}@${crate.version}`,
  }));
  const refs = new Map(crates.map((crate) => [`${crate.name} ${crate.version}`, reference(crate)]));
  const ours = crates.filter(({ isOurs }) => isOurs).map(reference);
  const dependencies = crates.map((crate) => ({
    ref: reference(crate),
    dependsOn: crate.dependencies.map((dependency) => refs.get(dependency)),
  }));
  const bom = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      ...timestamp(),
      tools: {
        components: tools.map(({ name, version }) => ({ type: "application", name, version })),
      },
      component: root,
    },
    components,
    dependencies: [{ ref: name, dependsOn: ours }, ...dependencies],
  };
  return `${JSON.stringify(bom, undefined, 2)}\n`;
}

function reference({ name, version }) {
  return `pkg:cargo/${name}@${version}`;
}

/** The time of the commit, not of the build: https://reproducible-builds.org/docs/source-date-epoch. */
function timestamp() {
  const seconds = process.env.SOURCE_DATE_EPOCH;
  return seconds ? { timestamp: new Date(Number(seconds) * 1000).toISOString() } : {};
}
