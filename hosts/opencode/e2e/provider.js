/**
 * A model provider on loopback that speaks Anthropic messages and OpenAI chat
 * completions, both streamed. What the model says is scripted by the test; what
 * a request weighs, and what of it was cached, the provider works out by rules
 * of its own, which nothing under test shares.
 */
import { createHash } from "node:crypto";
import { createServer } from "node:http";

const BYTES_PER_TOKEN = 4.5;
const MARK_CAP = 4;
const LOOK_BACK_BLOCKS = 20;
const AUTOMATIC_CACHE_STEP = 128; // tokens

/** @typedef {{name: string, input: object}} Call */
/** @typedef {{text?: string, calls?: Call[], status?: number, headers?: Record<string, string>, never?: boolean, finish?: string}} Reply one answer of the model; a status fails the request */
/** @typedef {Reply | ((body: any) => Line[])} Line a reply, or what makes the next replies from the request */
/** @typedef {{text: string, marked: boolean}} Block a piece of the request in the order that a cache sees it */

/**
 * @typedef {object} Recorded one request as it arrived
 * @property {"anthropic" | "openai"} protocol
 * @property {string} session
 * @property {string} parent
 * @property {boolean} title
 * @property {any} body
 * @property {Block[]} blocks
 * @property {number} tokens
 * @property {number} status
 * @property {{input: number, read: number, write: number}} usage
 * @property {number} marks
 * @property {number} at
 */

export class Provider {
  /** @param {number} window tokens */
  constructor(window) {
    this.window = window;
    /** @type {Recorded[]} */
    this.requests = [];
    /** @type {Map<string, Line[]>} */
    this.scripts = new Map();
    /** @type {Map<string, Line[]>} */
    this.childScripts = new Map();
    /** @type {Map<string, number>} cached prefixes by hash, with their tokens */
    this.cache = new Map();
    /** @type {string[][]} */
    this.seen = [];
    /** Whether a request is refused for the room that its reply might take. */
    this.refusesForReply = true;
    /** @type {(request: Recorded) => Reply | undefined} answers a request outside of any script */
    this.aside = () => undefined;
    /** @type {(request: Recorded) => void} told of each request when its status is settled */
    this.heard = () => {};
    this.server = createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (chunk) => (body += chunk));
      request.on("end", () => this.#serve(request, JSON.parse(body), response));
    });
  }

  /** @returns {Promise<string>} the base URL */
  async start() {
    await new Promise((resolve) => this.server.listen(0, "127.0.0.1", () => resolve(undefined)));
    const address = this.server.address();
    if (!address || typeof address === "string") throw new Error("no port");
    return `http://127.0.0.1:${address.port}/v1`;
  }

  async stop() {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /**
   * What the model answers next in a session, one reply a request.
   * @param {string} session
   * @param {Line[]} lines
   */
  say(session, lines) {
    this.scripts.set(session, [...(this.scripts.get(session) ?? []), ...lines]);
  }

  /**
   * Forgets what is left of a script.
   * @param {string} session
   */
  forgetScript(session) {
    this.scripts.delete(session);
  }

  /**
   * What the model answers in the next child of a session.
   * @param {string} parent
   * @param {Line[]} lines
   */
  sayInChild(parent, lines) {
    this.childScripts.set(parent, [...lines]);
  }

  /**
   * The requests of a session, titles apart.
   * @param {string} session
   */
  of(session) {
    return this.requests.filter((request) => request.session === session && !request.title);
  }

  /**
   * @param {import("node:http").IncomingMessage} request
   * @param {any} body
   * @param {import("node:http").ServerResponse} response
   */
  #serve(request, body, response) {
    const protocol = request.url?.endsWith("/messages") ? "anthropic" : "openai";
    const session = String(request.headers["x-session-id"] ?? request.headers["x-session-affinity"] ?? "");
    const parent = String(request.headers["x-parent-session-id"] ?? "");
    const title = JSON.stringify(body.messages).includes("Generate a title for this conversation");
    !body.tools?.length && /title/i.test(JSON.stringify(body.system ?? body.messages?.[0] ?? ""));
    const blocks = protocol === "anthropic" ? anthropicBlocks(body) : openaiBlocks(body);
    const tokens = sum(blocks.map(weigh));
    const marks = blocks.filter(({ marked }) => marked).length;
    const usage = protocol === "anthropic" ? this.#markedUsage(blocks) : this.#automaticUsage(blocks);
    /** @type {Recorded} */
    const recorded = {
      protocol,
      session,
      parent,
      title,
      body,
      blocks,
      tokens,
      usage,
      marks,
      status: 200,
      at: Date.now(),
    };
    this.requests.push(recorded);
    const most = body.max_tokens ?? body.max_completion_tokens ?? 0;
    const refusal =
      malformed(body) ?? this.#refusal(protocol, tokens, this.refusesForReply ? most : 0, marks);
    if (refusal) {
      recorded.status = 400;
      this.heard(recorded);
      response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify(refusal));
      return;
    }
    const reply = title ? { text: "A title" } : (this.aside(recorded) ?? this.#next(session, parent, body));
    this.heard(recorded);
    if (reply.never) return;
    if (reply.status) {
      recorded.status = reply.status;
      const error = {
        type: "error",
        error: { type: "api_error", message: `scripted failure ${reply.status}` },
      };
      response
        .writeHead(reply.status, { "content-type": "application/json", ...reply.headers })
        .end(JSON.stringify(error));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (protocol === "anthropic") streamAnthropic(response, reply, usage);
    else streamOpenAI(response, reply, usage);
  }

  /**
   * @param {string} session
   * @param {string} parent
   * @param {any} body
   * @returns {Reply}
   */
  #next(session, parent, body) {
    const first = this.childScripts.get(parent);
    if (first && !this.scripts.has(session)) {
      this.scripts.set(session, first);
      this.childScripts.delete(parent);
    }
    const script = this.scripts.get(session) ?? [];
    for (let line = script.shift(); line; line = script.shift()) {
      if (typeof line !== "function") return line;
      script.unshift(...line(body));
    }
    return { text: "Nothing was scripted." };
  }

  /**
   * @param {string} protocol
   * @param {number} tokens
   * @param {number} most
   * @param {number} marks
   */
  #refusal(protocol, tokens, most, marks) {
    if (protocol === "anthropic") {
      let message = "";
      if (marks > MARK_CAP) {
        message = `A maximum of ${MARK_CAP} blocks with cache_control may be provided. Found ${marks}.`;
      } else if (tokens > this.window) {
        message = `prompt is too long: ${tokens} tokens > ${this.window} maximum`;
      } else if (tokens + most > this.window) {
        message =
          `input length and \`max_tokens\` exceed context limit: ${tokens} + ${most} > ${this.window}, ` +
          "decrease input length or `max_tokens` and try again";
      }
      return message && { type: "error", error: { type: "invalid_request_error", message } };
    }
    if (tokens + most <= this.window) return null;
    const message =
      `This model's maximum context length is ${this.window} tokens. However, you requested ${tokens + most} ` +
      `tokens (${tokens} in the messages, ${most} in the completion). Please reduce the length of the messages ` +
      "or completion.";
    return {
      error: { message, type: "invalid_request_error", param: "messages", code: "context_length_exceeded" },
    };
  }

  /**
   * Reads only where an entry was written, looking back from each mark over a
   * limited number of blocks; writes an entry at each mark.
   * @param {Block[]} blocks
   */
  #markedUsage(blocks) {
    const hash = createHash("sha256");
    let total = 0;
    const prefixes = blocks.map((block) => {
      hash.update(`${block.text.length}:${block.text}`);
      total += weigh(block);
      return { key: hash.copy().digest("hex"), tokens: total };
    });
    let read = 0;
    let written = 0;
    blocks.forEach(({ marked }, i) => {
      if (!marked) return;
      written = prefixes[i].tokens;
      for (let j = i; j >= Math.max(0, i - LOOK_BACK_BLOCKS); j--) {
        if (!this.cache.has(prefixes[j].key)) continue;
        read = Math.max(read, prefixes[j].tokens);
        break;
      }
    });
    blocks.forEach(({ marked }, i) => marked && this.cache.set(prefixes[i].key, prefixes[i].tokens));
    return { input: total - Math.max(read, written), read, write: Math.max(0, written - read) };
  }

  /**
   * Reads the longest prefix that any request before had.
   * @param {Block[]} blocks
   */
  #automaticUsage(blocks) {
    const texts = blocks.map(({ text }) => text);
    let read = 0;
    for (const earlier of this.seen) {
      let tokens = 0;
      for (let i = 0; i < texts.length && texts[i] === earlier[i]; i++) tokens += weigh(blocks[i]);
      read = Math.max(read, tokens);
    }
    this.seen.push(texts);
    read -= read % AUTOMATIC_CACHE_STEP;
    return { input: sum(blocks.map(weigh)) - read, read, write: 0 };
  }
}

/**
 * Arguments of a call have to be an object, and each call needs its result.
 * @param {any} body
 */
function malformed({ messages }) {
  const open = new Set();
  let message = "";
  for (const { role, content, tool_calls, tool_call_id } of messages) {
    for (const { id, function: f } of tool_calls ?? []) {
      open.add(id);
      if (!isObject(parse(f.arguments))) message = `the arguments of ${id} are no object in JSON`;
    }
    if (role === "tool") open.delete(tool_call_id);
    for (const { type, id, input, tool_use_id } of Array.isArray(content) ? content : []) {
      if (type === "tool_result") open.delete(tool_use_id);
      if (type !== "tool_use") continue;
      open.add(id);
      if (!isObject(input)) message = `tool_use.input of ${id}: Input should be a valid dictionary`;
    }
  }
  if (open.size > 0)
    message ||= `tool_use ids were found without tool_result blocks: ${[...open].join(", ")}`;
  return message ? { type: "error", error: { type: "invalid_request_error", message } } : null;
}

/** @param {unknown} value */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** @param {string} json */
function parse(json) {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** @param {number[]} numbers */
function sum(numbers) {
  return numbers.reduce((x, y) => x + y, 0);
}

/**
 * @param {Block} block
 * @returns {number} tokens
 */
export function weigh({ text }) {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/**
 * @param {any} body
 * @returns {Block[]}
 */
export function anthropicBlocks(body) {
  const system =
    typeof body.system === "string" ? [{ type: "text", text: body.system }] : (body.system ?? []);
  const blocks = [...(body.tools ?? []), ...system].map((piece) => block("", piece));
  for (const { role, content } of body.messages) {
    const pieces = typeof content === "string" ? [{ type: "text", text: content }] : content;
    for (const piece of pieces) blocks.push(block(role, piece));
  }
  return blocks;
}

/**
 * @param {string} role
 * @param {any} piece
 * @returns {Block}
 */
function block(role, { cache_control, ...rest }) {
  return { text: role + JSON.stringify(rest), marked: cache_control !== undefined };
}

/**
 * @param {any} body
 * @returns {Block[]}
 */
function openaiBlocks(body) {
  return [...(body.tools ?? []), ...body.messages].map((piece) => ({
    text: JSON.stringify(piece),
    marked: false,
  }));
}

/**
 * @param {import("node:http").ServerResponse} response
 * @param {Reply} reply
 * @param {{input: number, read: number, write: number}} usage
 */
function streamAnthropic(response, reply, usage) {
  /** @param {any} data */
  const send = (data) => response.write(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);
  const counted = {
    input_tokens: usage.input,
    cache_read_input_tokens: usage.read,
    cache_creation_input_tokens: usage.write,
    output_tokens: 1,
  };
  const message = { id: unique("msg"), type: "message", role: "assistant", model: "mock", content: [] };
  send({
    type: "message_start",
    message: { ...message, stop_reason: null, stop_sequence: null, usage: counted },
  });
  let index = 0;
  if (reply.text) {
    send({ type: "content_block_start", index, content_block: { type: "text", text: "" } });
    send({ type: "content_block_delta", index, delta: { type: "text_delta", text: reply.text } });
    send({ type: "content_block_stop", index: index++ });
  }
  for (const { name, input } of reply.calls ?? []) {
    send({
      type: "content_block_start",
      index,
      content_block: { type: "tool_use", id: unique("toolu"), name, input: {} },
    });
    send({
      type: "content_block_delta",
      index,
      delta: { type: "input_json_delta", partial_json: JSON.stringify(input) },
    });
    send({ type: "content_block_stop", index: index++ });
  }
  const stop_reason = reply.finish ?? (reply.calls?.length ? "tool_use" : "end_turn");
  send({
    type: "message_delta",
    delta: { stop_reason, stop_sequence: null },
    usage: { output_tokens: spoken(reply) },
  });
  send({ type: "message_stop" });
  response.end();
}

/**
 * @param {import("node:http").ServerResponse} response
 * @param {Reply} reply
 * @param {{input: number, read: number, write: number}} usage
 */
function streamOpenAI(response, reply, usage) {
  const frame = { id: unique("chat"), object: "chat.completion.chunk", created: 1, model: "mock" };
  /** @param {object} delta @param {string | null} [finish_reason] */
  const send = (delta, finish_reason = null) =>
    response.write(
      `data: ${JSON.stringify({ ...frame, choices: [{ index: 0, delta, finish_reason }] })}\n\n`,
    );
  send({ role: "assistant", content: reply.text ?? "" });
  (reply.calls ?? []).forEach(({ name, input }, index) => {
    const call = {
      index,
      id: unique("call"),
      type: "function",
      function: { name, arguments: JSON.stringify(input) },
    };
    send({ tool_calls: [call] });
  });
  send({}, reply.calls?.length ? "tool_calls" : "stop");
  const prompt_tokens = usage.input + usage.read;
  const completion_tokens = spoken(reply);
  const counted = {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    prompt_tokens_details: { cached_tokens: usage.read },
  };
  response.write(`data: ${JSON.stringify({ ...frame, choices: [], usage: counted })}\n\ndata: [DONE]\n\n`);
  response.end();
}

/** @param {Reply} reply */
function spoken(reply) {
  return Math.ceil((JSON.stringify(reply.calls ?? []).length + (reply.text?.length ?? 0)) / BYTES_PER_TOKEN);
}

let count = 0;

/** @param {string} prefix */
function unique(prefix) {
  return `${prefix}_${String(++count).padStart(8, "0")}`;
}
