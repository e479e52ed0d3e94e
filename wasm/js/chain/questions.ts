/** Questions about the kept blocks, which the worker answers without asking a source. */
import type { ChainClient, PlainHeader } from "../../follow/pkg/randomx_follow_wasm.js";
import { hex } from "../monero/hex.js";
import type { Network } from "../types.js";
import type { Answers, Question } from "./protocol.js";
import type { ChainHeader } from "./types.js";

/** The exports of the WebAssembly module that answers need. */
export type QuestionWasm = Pick<
  typeof import("../../follow/pkg/randomx_follow_wasm.js"),
  "examine" | "transactionId"
>;

/** Answers a question. */
export function answer(
  wasm: QuestionWasm,
  client: ChainClient,
  network: Network,
  question: Question,
): Answers[Question["about"]] {
  switch (question.about) {
    case "headers":
      return headers(client, question.first, question.last);
    case "block": {
      const found = wasm.examine(question.block, undefined, undefined, undefined, network);
      if (found.id === null || found.height === null) return undefined;
      const [header] = headers(client, found.height, found.height);
      if (header?.id !== hex(found.id)) return undefined;
      return { ...header, transactionIds: found.transactionIds.map(hex) };
    }
    case "transactions":
      return question.transactions.map((transaction) => {
        const id = wasm.transactionId(transaction);
        return id && hex(id);
      });
  }
}

function headers(client: ChainClient, first: number, last: number): ChainHeader[] {
  const kept = client.headers(first, last) as PlainHeader[];
  return kept.reverse().map((header) => ({
    ...header,
    difficulty: BigInt(header.difficulty),
    work: BigInt(header.work),
  }));
}
