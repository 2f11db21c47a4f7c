/**
 * A contender of the bench: drops the oldest whole turns when the messages pass
 * the high mark, down to the low mark, and keeps that cut until the next time.
 * It knows nothing of what it drops.
 */
import { existsSync, readFileSync } from "node:fs";

const BYTES_PER_TOKEN = 4.5;
const HIGH = 0.85;
const LOW = 0.6;
const PART_BYTES = 100; // what the request adds to the text of a part

/** @param {any} part */
function partBytes({ text, state }) {
  const pieces = [text, state?.input && JSON.stringify(state.input), state?.output, state?.error];
  return pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece ?? ""), PART_BYTES);
}

/** @param {any} message */
function messageBytes({ parts }) {
  return parts.reduce((/** @type {number} */ sum, /** @type {any} */ part) => sum + partBytes(part), 0);
}

/**
 * @param {unknown} _
 * @param {{window: number, output: number, fixed: string}} options fixed: a file with the tokens of system text and tools
 */
export default async (_, { window, output, fixed }) => {
  /** @type {Map<string, string>} by session, the user message that the list begins with */
  const cuts = new Map();
  return {
    "experimental.chat.messages.transform": async (
      /** @type {object} */ _,
      /** @type {{messages: any[]}} */ { messages },
    ) => {
      const session = messages.findLast(({ info }) => info.role === "user")?.info.sessionID;
      const cut = messages.findIndex(({ info }) => info.id === cuts.get(session));
      if (cut > 0) messages.splice(0, cut);
      const usable = window - output - (existsSync(fixed) ? Number(readFileSync(fixed, "utf8")) : 0);
      let tokens = messages.reduce((sum, message) => sum + messageBytes(message), 0) / BYTES_PER_TOKEN;
      if (tokens <= HIGH * usable) return;
      while (tokens > LOW * usable) {
        const next = messages.findIndex(({ info }, i) => i > 0 && info.role === "user");
        if (next < 0) break; // the newest turn stays whole
        for (const message of messages.splice(0, next)) tokens -= messageBytes(message) / BYTES_PER_TOKEN;
      }
      cuts.set(session, messages[0].info.id);
    },
  };
};
