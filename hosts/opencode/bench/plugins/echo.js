/**
 * A contender of the bench that does nothing: it asks another process for one
 * line and waits for it, as any hook must that asks somebody. What it takes is
 * what OpenCode lets such a hook take at least.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";

export default async () => {
  const { stdin, stdout } = spawn("cat", { stdio: ["pipe", "pipe", "ignore"] });
  return {
    "experimental.chat.messages.transform": async () => {
      stdin.write("\n");
      await once(stdout, "data");
    },
  };
};
