/** `randomx hash --jsonl -`, which another program keeps open. */
import { spawn } from "node:child_process";
import { nativeProgram } from "../programs.js";
import { ended, lineProgram } from "./lines.js";
import { MIDDLE, sleep, type Batch, type Subject } from "./subject.js";

/** Starts the program. */
export function cliSubject(name: string, ...options: string[]): Subject {
  const args = ["hash", "--jsonl", "-", ...options];
  const { pid, ask, close } = lineProgram(nativeProgram(), args);
  return {
    name,
    pid,
    hash: async (batch) => {
      const answers = await ask(lines(batch));
      return answers.map((answer) => (JSON.parse(answer) as { hash: string }).hash);
    },
    // The program itself goes on; another run of it is killed, or loses its reader.
    disturb: async (fault, batch) => {
      const other = spawn(nativeProgram(), args, { stdio: ["pipe", "pipe", "inherit"] });
      other.stdin.on("error", () => undefined);
      other.stdin.end(`${lines(batch).join("\n")}\n`);
      await sleep(MIDDLE);
      if (fault === "kill") other.kill("SIGKILL");
      else other.stdout.destroy();
      return ended(other);
    },
    close,
  };
}

function lines({ key, version, inputs }: Batch): string[] {
  return inputs.map((input) => JSON.stringify({ version, key, input }));
}
