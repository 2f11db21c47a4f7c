/**
 * OpenCode's own compaction as 1.18.33 does it, for the bench without the host:
 * when a step has used up the usable window, everything but the newest messages
 * goes into a summary, and the session goes on by itself.
 */
import { OUTPUT } from "./play.js";

const TAIL_SHARE = 0.25; // of the usable window, for the newest messages
const LEAST_TAIL = 2_000;
const MOST_TAIL = 15_000;
const OUTPUT_SHOWN = 2_000; // characters of each tool output in the request for a summary
const QUESTION = "What did we do so far?";
const GO_ON =
  "Continue if you have next steps, or stop and ask for clarification if you are unsure how to proceed.";

export class Compaction {
  /** @param {number} window */
  constructor(window) {
    this.usable = window - OUTPUT;
    /** @type {any[]} what is left of the session, the newest summary aside */
    this.messages = [];
    this.summary = "";
    this.count = 0;
  }

  /** The list of the next request. */
  list() {
    if (!this.summary) return [...this.messages];
    return [
      this.#message("user", [{ type: "text", text: QUESTION }]),
      this.#message("assistant", [{ type: "text", text: this.summary }]),
      ...this.messages,
    ];
  }

  /** @param {number} tokens that the newest step has used, its reply included */
  due(tokens) {
    return tokens >= this.usable;
  }

  /** The text that is to be summarised, by the place where the kept messages begin. */
  select() {
    const budget = Math.min(MOST_TAIL, Math.max(LEAST_TAIL, Math.floor(this.usable * TAIL_SHARE)));
    const { messages } = this;
    let [start, end, used] = [messages.length, messages.length, 0];
    for (let i = messages.length - 1; i >= 0; i--) {
      if (messages[i].info.role !== "user") continue;
      const size = estimate(messages.slice(i, end));
      if (used + size > budget) {
        // Of the turn that does not fit, its newest messages.
        for (let j = i + 1; j < end; j++) {
          if (used + estimate(messages.slice(j, end)) > budget) continue;
          start = j;
          break;
        }
        break;
      }
      used += size;
      [start, end] = [i, i];
    }
    if (start === 0) start = messages.length;
    return { start, text: messages.slice(0, start).map(told).filter(Boolean).join("\n\n") };
  }

  /**
   * @param {number} start
   * @param {string} summary
   */
  compact(start, summary) {
    this.messages = this.messages.slice(start);
    this.summary = summary;
    this.messages.push(this.#message("user", [{ type: "text", text: GO_ON }]));
  }

  /** @param {string} text of the model */
  say(text) {
    this.messages.push(this.#message("assistant", [{ type: "text", text }]));
  }

  /**
   * @param {string} role
   * @param {any[]} parts
   */
  #message(role, parts) {
    return { info: { role, id: `msg_own_${++this.count}` }, parts };
  }
}

/** @param {any[]} messages */
function estimate(messages) {
  const sent = messages.flatMap(({ info, parts }) => {
    const calls = parts.filter((/** @type {any} */ { type }) => type === "tool");
    const content = parts.flatMap((/** @type {any} */ { type, text, tool, callID, state }) => {
      if (type === "text") return [{ type, text }];
      if (type !== "tool") return [];
      return [{ type: "tool-call", toolCallId: callID, toolName: tool, input: state.input }];
    });
    const results = calls.map((/** @type {any} */ { tool, callID, state }) => ({
      type: "tool-result",
      toolCallId: callID,
      toolName: tool,
      output: { type: "text", value: state.output },
    }));
    const message = { role: info.role, content };
    return results.length > 0 ? [message, { role: "tool", content: results }] : [message];
  });
  return Math.round(JSON.stringify(sent).length / 4);
}

/** @param {any} message */
function told({ info, parts }) {
  return parts
    .flatMap((/** @type {any} */ { type, text, tool, state }) => {
      if (type === "text") return [`[${info.role === "user" ? "User" : "Assistant"}]: ${text}`];
      if (type !== "tool") return [];
      const { input, output } = state;
      const shown = output.length > OUTPUT_SHOWN ? `${output.slice(0, OUTPUT_SHOWN)}\n[truncated]` : output;
      return [`[Assistant tool call]: ${tool}(${JSON.stringify(input)})`, `[Tool result]: ${shown}`];
    })
    .join("\n");
}
