import type { Buffer } from "node:buffer";
import { randomx } from "randomx-web/pool";

export const hash: Buffer = randomx("00", "00");
