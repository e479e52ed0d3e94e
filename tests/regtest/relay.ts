/** Runs `randomx relay`. */
import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { nativeProgram } from "../programs.js";
import { killAtEnd } from "./leftovers.js";

/** Starts a relay of a regtest node, with its headers in a folder. Returns the process and its address. */
export async function startRelay(node: string, store: string): Promise<[ChildProcess, string]> {
  const args = ["relay", "--network", "regtest", "--node", node, "--store", store];
  const relay = killAtEnd(spawn(nativeProgram(), [...args, "--listen", "127.0.0.1:0"]));
  for await (const line of createInterface({ input: relay.stdout })) {
    return [relay, line.replace("listening on ", "")];
  }
  throw new Error("the relay ended");
}
