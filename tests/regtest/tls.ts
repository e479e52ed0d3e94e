/** A node behind TLS on loopback, with a certificate of an authority that nobody else knows, or one that it signed. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { createServer } from "node:tls";
import { promisify } from "node:util";
import { makeFolder, removeFolder } from "./leftovers.js";
import { listen, type Loopback } from "./loopback.js";

/** OpenSSL's arguments for a new certificate that is valid for two days. */
const CERTIFICATE = [
  ...["req", "-x509", "-nodes", "-days", "2"],
  ...["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"],
];

/**
 * The signer of a node's certificate: an authority, or the node itself as OpenSSL does by default, or with version 1 of
 * X.509 as `monero-gen-ssl-cert` does.
 */
export type Signer = "authority" | "node" | "node-version-1";

export class TlsNode {
  readonly url: string;
  /** The file with the certificate that the guard trusts. */
  readonly authority: string;
  readonly #server: Loopback;
  readonly #folder: string;

  private constructor(server: Loopback, authority: string, folder: string) {
    this.url = `https://localhost:${server.port}`;
    this.authority = authority;
    this.#server = server;
    this.#folder = folder;
  }

  /** Starts a server of TLS before a node on loopback. A certificate of the authority is for `localhost`. */
  static async before(node: string, signer: Signer = "authority"): Promise<TlsNode> {
    const folder = await makeFolder("tls");
    const file = (name: string): string => join(folder, name);
    const authority = signer === "authority" ? file("authority.pem") : file("node.pem");
    const own = ["-keyout", file("node.key"), "-out", file("node.pem")];
    if (signer === "authority") {
      await openssl(
        ...[...CERTIFICATE, "-subj", "/CN=authority"],
        ...["-keyout", file("authority.key"), "-out", authority],
      );
      await openssl(
        ...[...CERTIFICATE, "-subj", "/CN=node", "-addext", "subjectAltName=DNS:localhost"],
        ...["-addext", "basicConstraints=critical,CA:FALSE"],
        ...["-CA", authority, "-CAkey", file("authority.key"), ...own],
      );
    } else {
      await openssl("req", "-x509", "-nodes", "-newkey", "rsa:2048", "-subj", "/CN=node", ...own);
    }
    if (signer === "node-version-1") {
      const request = ["-key", file("node.key"), "-subj", "/CN=node", "-out", file("node.csr")];
      await openssl("req", "-new", ...request);
      const signed = ["-signkey", file("node.key"), "-days", "2", "-out", file("node.pem")];
      await openssl("x509", "-req", "-in", file("node.csr"), ...signed);
    }
    const [key, cert] = [await readFile(file("node.key")), await readFile(file("node.pem"))];
    const port = Number(new URL(node).port);
    const server = createServer({ key, cert }, (socket) => {
      const other = connect(port, "127.0.0.1");
      socket.on("error", () => other.destroy());
      other.on("error", () => socket.destroy());
      socket.pipe(other).pipe(socket);
    });
    return new TlsNode(await listen(server), authority, folder);
  }

  async close(): Promise<void> {
    this.#server.close();
    await removeFolder(this.#folder);
  }
}

async function openssl(...args: string[]): Promise<void> {
  await promisify(execFile)("openssl", args);
}
