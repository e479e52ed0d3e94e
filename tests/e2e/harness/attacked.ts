/** Attacks on the package by what a node or a relay answers. */
import { MoneroNode } from "../../../wasm/js/index.js";
import { attackedBy } from "../../node/chain/attacked.mjs";
import { sharedInstance } from "./instance.js";

/** Suffers an attack, and returns the number of calls that had an answer all the same. */
export async function attacked(address: string): Promise<number> {
  return attackedBy({ MoneroNode, randomx: await sharedInstance() }, address);
}
