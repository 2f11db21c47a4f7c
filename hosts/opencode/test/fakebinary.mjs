#!/usr/bin/env node
// A stand-in for the binary: keeps lists, answers with one plan made by a simple
// rule, and misbehaves as FAKE_MODE says. What it was asked goes to FAKE_LOG.
import { appendFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { revisions } from "../plugin/ctxplugin/revision.js";

const mode = process.env.FAKE_MODE ?? "";
const pairText = process.env.FAKE_HEAD ?? "";
/** @type {{inside: number, next: number, ms: number, stub?: string} | undefined} how long plans stand; stub is an edit of each first output */
const stands = process.env.FAKE_STANDING ? JSON.parse(process.env.FAKE_STANDING) : undefined;
/** @type {Map<string, any[]>} */
const lists = new Map();

/** @param {any[]} messages */
function revision(messages) {
  return revisions(messages.map(({ id, parts }) => ({ info: /** @type {any} */ ({ id }), parts })));
}

/** @param {object[]} frames at once */
function send(...frames) {
  process.stdout.write(frames.map((frame) => JSON.stringify({ jsonrpc: "2.0", ...frame }) + "\n").join(""));
}

/** @param {string} rev */
const standing = (rev) =>
  stands && { rev, inside: stands.inside, next: stands.next, until: Date.now() + stands.ms };

/** @type {Record<string, (params: any) => any>} */
const methods = {
  initialize: () => ({
    server: { name: "fake", version: "0" },
    protocolVersion: 1,
    tools: [
      {
        name: "ctx_echo",
        description: "Repeats a text.",
        inputSchema: {
          type: "object",
          properties: { text: { type: "string" }, times: { type: "integer" } },
          required: ["text"],
        },
      },
    ],
    capabilities: { transform: true },
    placeholder: { pattern: "\\[stored [a-z]+ 7\\]", refusal: "That stands for something else." },
  }),
  "session/sync": ({ sessionID, keep, check, messages, more }) => {
    const list = lists.get(sessionID) ?? [];
    const revs = revision(list);
    if (keep > list.length || revs.at(keep) !== check) {
      throw {
        code: -32001,
        message: "another list",
        data: { code: "resync", keep: list.length, check: revs.at() },
      };
    }
    const next = [...list.slice(0, keep), ...messages];
    if (!more || next.length > list.length) lists.set(sessionID, next);
    return { rev: revision(next).at() };
  },
  "session/transform": ({ sessionID, rev, applied, sent }) => {
    const list = lists.get(sessionID) ?? [];
    if (revision(list).at() !== rev) {
      throw {
        code: -32001,
        message: "another list",
        data: { code: "resync", keep: 0, check: revision([]).at() },
      };
    }
    const user = list.findLastIndex(({ role }) => role === "user");
    const atOnce = JSON.stringify(list[0]).includes("plan at once"); // though there is nothing to drop
    const plan =
      pairText && (user > 0 || atOnce)
        ? {
            id: `through ${list[user - 1]?.id}`,
            head: [{ text: pairText, cacheMark: true }],
            through: list[user - 1]?.id ?? "",
            keep: [],
            edits: /** @type {any[]} */ ([]),
          }
        : { id: "nothing", head: [], through: "", keep: [], edits: [] };
    if (stands?.stub)
      for (const { id, parts } of list)
        if (parts[1]?.state) plan.edits.push({ messageID: id, part: 1, field: "output", value: stands.stub });
    if (sent) return { planID: applied, standing: standing(rev), stats: { messages: 100, usable: 10_000 } };
    const limit = /limit the answer to (\d+)/.exec(JSON.stringify(list.at(-1)));
    const reply = {
      planID: plan.id,
      standing: standing(rev),
      stats: { messages: 100, usable: 10_000 },
      maxOutput: Number(limit?.[1] ?? 0),
    };
    return plan.id === applied ? reply : { ...reply, plan };
  },
  "tools/call": ({ name, arguments: input, sessionID }) => ({
    content: [{ type: "text", text: `${name} in ${sessionID}: ${JSON.stringify(input)}` }],
    isError: input.text === "fail",
  }),
};

if (process.env.FAKE_LOG) writeFileSync(`${process.env.FAKE_LOG}.pid`, String(process.pid));

/**
 * A plan told between two requests.
 * @param {string} sessionID
 */
function ahead(sessionID) {
  const head = [{ text: "What came before, told anew.", cacheMark: true }];
  const plan = { id: "ahead", head, through: "b", keep: [], edits: [] };
  const how = standing(revision(lists.get(sessionID) ?? []).at());
  return { method: "host/plan", params: { sessionID, planID: plan.id, plan, standing: how } };
}

let deaf = false;
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (process.env.FAKE_LOG) appendFileSync(process.env.FAKE_LOG, line + "\n");
  if (mode === "rubbish")
    process.stdout.write('Warning: {"not": json\n[]\n42\n"text"\n{"jsonrpc":"2.0","id":77777}\n');
  if (mode === "crash" && method === "session/transform") process.exit(3);
  if (mode === "hang" && method !== "initialize") continue;
  if (mode === "mute") continue;
  if (params?.sent) deaf = mode === "deaf";
  if (deaf) continue;
  if (mode === "outdated" && params?.type === "idle")
    send({ method: "host/plan", params: { sessionID: params.sessionID } });
  if (mode === "forgotten" && params?.type === "idle") {
    send({ method: "host/plan", params: { sessionID: params.sessionID, forgotten: true } });
    deaf = true;
  }
  if (mode === "ahead" && params?.type === "idle") send(ahead(params.sessionID));
  if (id === undefined) continue;
  try {
    const serve = methods[method];
    if (!serve) throw { code: -32601, message: `no ${method}`, data: { code: "unknownMethod" } };
    const reply = { id, result: serve(params) };
    if (mode === "loses" && method === "session/sync" && params.keep > 0 && params.messages.length > 0)
      continue;
    if (mode === "late" && params.sent) {
      setTimeout(() => send(reply), 80);
      continue;
    }
    const word = { method: "host/plan", params: { sessionID: params.sessionID } };
    if (mode === "outdated at once" && method === "session/transform") {
      send(reply, word);
      continue;
    }
    if (mode === "outdated first" && method === "session/transform") {
      send(word, reply);
      continue;
    }
    const cue = mode === "ahead at once" && params.sent; // or when the message comes that ends a turn
    if (cue || (mode === "ahead of all" && method === "session/sync" && params.messages.length === 1))
      send(reply, ahead(params.sessionID));
    else send(reply);
  } catch (error) {
    send({ id, error });
  }
}
