/**
 * The same game without the host, in seconds: the shim's hooks and the real
 * binary, the session as `--export` has it, and requests built as OpenCode builds
 * them for the Anthropic protocol. Its system text and tools are filler of the
 * size of the real ones. For tuning; what counts is the real host.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { anthropicBlocks, weigh } from "../e2e/provider.js";
import { createPlugin } from "../plugin/ctxplugin/plugin.js";
import { sum } from "./accounting.js";
import { Compaction } from "./compaction.js";
import { exported } from "./export.js";
import { OUTPUT } from "./play.js";
import truncate from "./plugins/truncate.js";

/** @typedef {import("./play.js").Played} Played */

const SYSTEM_BYTES = 11_400;
const TOOL_BYTES = 20_300;
const SUMMARY_SYSTEM_BYTES = 700;
const SUMMARY_PROMPT_BYTES = 1_400;
const ANSWER_MS = 5; // that the model and the host take between two steps at least
const READ_MS = 50; // that the user takes between two turns at least
const MODEL = {
  id: "m",
  providerID: "anthropic-mock",
  api: { npm: "@ai-sdk/anthropic" },
  cost: { input: 3, output: 15, cache: { read: 0.3, write: 3.75 } },
};

/**
 * @param {Parameters<typeof import("./play.js").play>[0]} game
 * @param {import("./play.js").Watcher} watcher
 * @returns {Promise<Played>}
 */
export async function playFast({ contender, window, root, binary, workload }, watcher) {
  const project = join(root, "project");
  mkdirSync(project, { recursive: true });
  const home = { HOME: root, XDG_STATE_HOME: root, XDG_DATA_HOME: root, XDG_CONFIG_HOME: root };
  Object.assign(process.env, home, { XDG_CACHE_HOME: root, CTXPLUGIN_PATIENCE: "10" });
  const { info, messages } = exported(workload, project);
  const model = { ...MODEL, limit: { context: window, output: OUTPUT } };
  const fixed = join(root, "fixed-tokens");
  /** @type {any} */
  const hooks =
    contender === "ours"
      ? await createPlugin(binary)(/** @type {any} */ ({ client: client(model), directory: project }))
      : contender === "truncation"
        ? await truncate(undefined, { window, output: OUTPUT, fixed })
        : {};
  await hooks.config?.({ plugin: [] });
  const ownTools = Object.entries(hooks.tool ?? {}).map(([name, { description, args }]) => ({
    name,
    description,
    input_schema: args,
  }));
  const tools = [{ name: "tools", description: "t".repeat(TOOL_BYTES) }, ...ownTools];
  const system = ["s".repeat(SYSTEM_BYTES)];
  writeFileSync(fixed, String(Math.ceil((SYSTEM_BYTES + TOOL_BYTES) / 4.5)));

  const sessionID = messages[0].info.sessionID;
  const own = contender === "host" ? new Compaction(window) : undefined;
  /** @type {import("../e2e/latency.js").Latency[]} */
  const latencies = [];
  /** @type {string[]} */
  const errors = [];

  /**
   * One main request.
   * @param {any[]} list
   * @returns {Promise<number>} its tokens
   */
  const ask = async (list) => {
    const began = performance.now();
    await hooks["experimental.chat.messages.transform"]?.({}, { messages: list });
    const ms = performance.now() - began;
    latencies.push({ ms, begun: 0, ask: ms, wait: 0, held: 0, turns: 0, apply: 0 });
    for (const { name, description } of tools) {
      await hooks["tool.definition"]?.({ toolID: name }, { description });
    }
    await hooks["experimental.chat.system.transform"]?.({ sessionID, model }, { system });
    const params = { maxOutputTokens: OUTPUT, options: {} };
    await hooks["chat.params"]?.({ sessionID, agent: "build", model, message: {} }, params);
    const request = recorded(requestBody(list, system, tools, params.maxOutputTokens), window);
    watcher.request(request);
    if (request.status !== 200) errors.push(`prompt is too long: ${request.tokens} tokens`);
    return request.tokens;
  };

  let turn = -1;
  try {
    for (const [i, message] of messages.entries()) {
      const { info } = message;
      if (info.role === "user") {
        own?.messages.push(message);
        watcher.turn(++turn);
        await hooks["chat.message"]?.({ sessionID, model: info.model }, {});
        continue;
      }
      await setTimeout(messages[i - 1].info.role === "user" ? READ_MS : ANSWER_MS);
      const tokens = await ask(own ? own.list() : messages.slice(0, i).map(copied));
      Object.assign(info.tokens, { total: tokens + info.tokens.output, cache: { read: 0, write: tokens } });
      await hooks.event?.({ event: { type: "message.updated", properties: { info } } });
      for (const part of message.parts) {
        await hooks.event?.({ event: { type: "message.part.updated", properties: { part } } });
      }
      own?.messages.push(message);
      if (own?.due(info.tokens.total)) {
        const { start, text } = own.select();
        const side = recorded(summaryBody(text, own.summary), window);
        const summary = watcher.aside(side)?.text ?? "";
        watcher.request(side);
        own.compact(start, summary);
        if (info.finish === "stop") {
          await ask(own.list());
          own.say("Nothing was scripted.");
        }
      }
      if (info.finish !== "stop") continue;
      await hooks.event?.({ event: { type: "session.idle", properties: { sessionID } } });
    }
    await hooks.dispose?.();
    const status =
      contender === "ours"
        ? JSON.parse(execFileSync(binary, ["status", "--json", sessionID], { encoding: "utf8" }))
        : undefined;
    return { info, messages, status, latencies, errors };
  } finally {
    await hooks.dispose?.();
    rmSync(root, { recursive: true, force: true });
  }
}

/**
 * @param {any} body
 * @param {number} window
 * @returns {import("../e2e/provider.js").Recorded}
 */
function recorded(body, window) {
  const blocks = anthropicBlocks(body);
  const tokens = sum(blocks.map(weigh));
  return /** @type {any} */ ({ body, blocks, tokens, status: tokens > window ? 400 : 200, title: false });
}

/**
 * The host's request for a summary.
 * @param {string} text
 * @param {string} before the summary before
 */
function summaryBody(text, before) {
  const system = [`You are a context summarization agent. ${"s".repeat(SUMMARY_SYSTEM_BYTES)}`];
  const prompt = `<conversation>\n${text}\n</conversation>\n\n${before}\n\n${"p".repeat(SUMMARY_PROMPT_BYTES)}`;
  return requestBody(
    [{ info: { role: "user" }, parts: [{ type: "text", text: prompt }] }],
    system,
    [],
    OUTPUT,
  );
}

/**
 * The parts of the host's client that the shim uses.
 * @param {object} model
 */
function client(model) {
  return {
    app: { log: async () => {} },
    tui: { showToast: async () => {} },
    config: { providers: async () => ({ data: { providers: [{ models: { m: model } }] } }) },
    tool: { list: async () => ({ data: [] }) },
    session: { get: async () => ({ data: {} }) },
  };
}

/**
 * A message as the host hands it out: nobody else's.
 * @param {any} message
 */
function copied({ info, parts }) {
  const copy = (/** @type {any} */ part) => ({ ...part, ...(part.state && { state: { ...part.state } }) });
  return { info, parts: parts.map(copy) };
}

const MARK = { cache_control: { type: "ephemeral" } };

/**
 * @param {any[]} list
 * @param {string[]} system
 * @param {object[]} tools
 * @param {number} max_tokens
 */
export function requestBody(list, system, tools, max_tokens) {
  /** @type {{role: string, content: any[]}[]} */
  const messages = [];
  const add = (/** @type {string} */ role, /** @type {any[]} */ content) => {
    if (content.length === 0) return;
    const last = messages[messages.length - 1];
    if (last?.role === role) last.content.push(...content);
    else messages.push({ role, content });
  };
  for (const { info, parts } of list) {
    const said = parts.filter(
      (/** @type {any} */ { type, text, ignored }) => type === "text" && text && !ignored,
    );
    const texts = said.map((/** @type {any} */ { text, metadata }) => ({
      type: "text",
      text,
      ...(metadata?.anthropic?.cacheControl && MARK),
    }));
    const called = parts.filter((/** @type {any} */ { type }) => type === "tool");
    add(info.role, [
      ...texts,
      ...called.map((/** @type {any} */ { callID, tool, state }) => ({
        type: "tool_use",
        id: callID,
        name: tool,
        input: state.input,
      })),
    ]);
    add(
      "user",
      called.map((/** @type {any} */ { callID, state }) => ({
        type: "tool_result",
        tool_use_id: callID,
        content: state.output,
      })),
    );
  }
  for (const { content } of messages.slice(-2)) Object.assign(content[content.length - 1], MARK);
  return {
    model: "m",
    max_tokens,
    system: system.map((text) => ({ type: "text", text, ...MARK })),
    tools,
    messages,
  };
}
