/**
 * What the hook takes in a session of 10,000 messages (20 MB), without the host:
 * the shim, the real binary, and three new messages for each request. As from the
 * host, every object of every list is new.
 *
 *   node bench/long.js BINARY [REQUESTS]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { createPlugin } from "../plugin/ctxplugin/plugin.js";

const MESSAGES = 10_000;
const OUTPUT_BYTES = 2_000;
const SESSION = "ses_long0000000000000000000000";
const MODEL = {
  id: "m",
  cost: { input: 3, output: 15, cache: { read: 0.3, write: 3.75 } },
  limit: { context: 200_000, output: 32_000 },
};
const PAUSE_MS = 250; // between requests: indexing and writing go on behind, as while a model answers

const [binary, requests = "200"] = process.argv.slice(2);
if (!binary) throw new Error("usage: node bench/long.js BINARY [REQUESTS]");

let seed = 1;
const random = () => (seed = (Math.imul(seed, 1103515245) + 12345) >>> 0) / 2 ** 32;
const words = Array.from({ length: 3_000 }, () =>
  Math.floor(random() * 2 ** 31)
    .toString(36)
    .replace(/[0-9]/g, "e"),
);

/** @param {number} bytes */
function text(bytes) {
  let out = "";
  while (out.length < bytes)
    out += words[Math.floor(random() * random() * words.length)] + (random() < 0.1 ? ".\n" : " ");
  return out;
}

/**
 * One message in seven is of the user, the others are steps with one call.
 * @param {number} n
 */
function message(n) {
  const id = `msg_${String(n).padStart(12, "0")}long`;
  const of = { sessionID: SESSION, messageID: id };
  const created = 1_760_000_000_000 + n * 3_000;
  const model = { providerID: "mock", modelID: "m" };
  const said = { id: `prt_${n}a`, ...of, type: "text" };
  if (n % 7 === 0) {
    return {
      info: { id, sessionID: SESSION, role: "user", time: { created }, agent: "build", model },
      parts: [{ ...said, text: text(300) }],
    };
  }
  const tokens = { input: 0, output: 300, reasoning: 0, cache: { read: 0, write: 0 } };
  const info = {
    id,
    sessionID: SESSION,
    role: "assistant",
    time: { created, completed: created + 2_000 },
    finish: "tool-calls",
    tokens,
    ...model,
  };
  const state = {
    status: "completed",
    input: { command: text(60) },
    output: text(OUTPUT_BYTES),
    title: "",
    metadata: {},
    time: { start: created, end: created + 9 },
  };
  const call = { id: `prt_${n}b`, ...of, type: "tool", callID: `call_${n}`, tool: "bash", state };
  return { info, parts: [{ ...said, text: text(100) }, call] };
}

/** @param {number[]} ms */
function percentiles(ms) {
  const sorted = ms.sort((a, b) => a - b);
  const at = (/** @type {number} */ share) =>
    `p${share * 100} ${sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))].toFixed(1)} ms`;
  return [0.1, 0.5, 0.9, 0.99].map(at).join(", ");
}

const root = mkdtempSync(join(tmpdir(), "ctxplugin-long-"));
Object.assign(process.env, {
  HOME: root,
  XDG_STATE_HOME: root,
  XDG_DATA_HOME: root,
  XDG_CONFIG_HOME: root,
  CTXPLUGIN_PATIENCE: "60",
});
const client = {
  app: { log: async () => {} },
  tui: { showToast: async () => {} },
  config: { providers: async () => ({ data: { providers: [{ models: { m: MODEL } }] } }) },
  tool: { list: async () => ({ data: [] }) },
  session: { get: async () => ({ data: {} }) },
};
const hooks = await createPlugin(resolve(binary))(/** @type {any} */ ({ client, directory: root }));
try {
  await hooks.config?.(/** @type {any} */ ({ plugin: [] }));
  await hooks["chat.message"]?.(
    /** @type {any} */ ({ sessionID: SESSION, model: { providerID: "mock", modelID: "m" } }),
    /** @type {any} */ ({}),
  );
  const texts = Array.from({ length: MESSAGES }, (_, n) => JSON.stringify(message(n)));
  /** @type {number[]} */
  const took = [];
  /** @type {number[]} */
  const worked = [];
  for (let i = 0; i <= Number(requests); i++) {
    const list = texts.map((text) => JSON.parse(text));
    await setTimeout(i < 40 ? 4 * PAUSE_MS : PAUSE_MS);
    const before = process.cpuUsage();
    const began = performance.now();
    await hooks["experimental.chat.messages.transform"]?.({}, /** @type {any} */ ({ messages: list }));
    took.push(performance.now() - began);
    const { user, system } = process.cpuUsage(before);
    worked.push((user + system) / 1000);
    for (let n = 0; n < 3; n++) texts.push(JSON.stringify(message(texts.length)));
    if (i === 0)
      console.log(`first request: ${took[0].toFixed(0)} ms, of ${MESSAGES} messages ${list.length} are sent`);
  }
  console.log(`later requests: ${percentiles(took.slice(41))}`);
  console.log(`… processor time of Node for them: ${percentiles(worked.slice(41))}`);
} finally {
  await hooks.dispose?.();
  rmSync(root, { recursive: true, force: true });
}
