/**
 * OpenCode's messages, models and events in the words of docs/protocol.md.
 */

/** @typedef {import("./host.js").Message} Message */
/** @typedef {import("./host.js").Model} Model */
/** @typedef {import("./host.js").Event} Event */

/**
 * The JSON text of one message. Parts go as they are, so what the binary stores
 * is what the host has.
 * @param {Message} message
 * @returns {string}
 */
export function wireMessage({ info, parts }) {
  const time = info.time?.created ?? 0;
  if (info.role !== "assistant") {
    const model = info.model && `${info.model.providerID}/${info.model.modelID}`;
    return JSON.stringify({ id: info.id, role: info.role, time, agent: info.agent, model, parts });
  }
  return JSON.stringify({
    id: info.id,
    role: info.role,
    time,
    agent: /** @type {{agent?: string}} */ (info).agent ?? info.mode,
    model: `${info.providerID}/${info.modelID}`,
    tokens: info.tokens,
    finish: info.finish,
    summary: info.summary === true ? true : undefined,
    error: info.error,
    parts,
  });
}

/**
 * A number for what a message says outside its parts, which the revision cannot
 * see: whether the step ended, how, and at what cost.
 * @param {Message} message
 * @returns {number}
 */
export function infoMark({ info }) {
  if (info.role !== "assistant") return 0;
  const { input = 0, output = 0, cache } = info.tokens ?? {};
  const tokens = input + output + (cache?.read ?? 0) + (cache?.write ?? 0);
  const ended = (info.finish?.length ?? 0) * 4 + (info.error ? 2 : 0) + (info.summary === true ? 1 : 0);
  return tokens * 1024 + ended;
}

/**
 * Packages whose providers cache up to a mark, and the metadata that sets one.
 * @type {Record<string, Record<string, object>>}
 */
const MARKS = {
  "@ai-sdk/anthropic": { anthropic: { cacheControl: { type: "ephemeral" } } },
  "@ai-sdk/google-vertex/anthropic": { anthropic: { cacheControl: { type: "ephemeral" } } },
};

/**
 * The metadata that makes a part a cache mark for this model, if it has marks.
 * @param {Model | undefined} model
 */
export function markMetadata(model) {
  return model && MARKS[model.api?.npm];
}

const CACHE_TTL_MS = 300_000; // the providers' shortest promise

/**
 * Prices in micro-units per million tokens; the host has dollars per million.
 * @param {Model | undefined} model
 * @param {boolean} [priced] whether zeros are prices, and not just absent ones
 */
export function wirePrices(model, priced = true) {
  const cost = model?.cost;
  const input = micro(cost?.input);
  const output = micro(cost?.output);
  const cacheRead = micro(cost?.cache?.read);
  const cacheWrite = micro(cost?.cache?.write);
  let kind = "unknown";
  if (markMetadata(model)) kind = "marks";
  else if (cacheRead > 0) kind = "automatic";
  else if (cost && priced && input + output + cacheWrite === 0) kind = "free";
  const ttlMs = kind === "marks" || kind === "automatic" ? CACHE_TTL_MS : 0;
  return { input, output, cacheRead, cacheWrite, ttlMs, kind };
}

/** @param {number | undefined} dollars */
function micro(dollars) {
  return Number.isFinite(dollars) ? Math.round(Number(dollars) * 1e6) : 0;
}

const HOST_OUTPUT_CAP = 32_000; // the host asks for no more, whatever the model allows

/**
 * The window of a model in tokens. Some models cap the input below the window;
 * the window sent is then the smaller one that has this input beside its output.
 * @param {Model | undefined} model
 */
export function wireLimits(model) {
  const limit = /** @type {{context?: number, output?: number, input?: number} | undefined} */ (model?.limit);
  const context = limit?.context ?? 0;
  const output = limit?.output ?? 0;
  if (!limit?.input || !context) return { context, output };
  return { context: Math.min(context, limit.input + Math.min(output, HOST_OUTPUT_CAP)), output };
}

/**
 * The `session/event` for an event of the host, if the binary cares about it.
 * @param {Event} event
 * @returns {({sessionID: string, type: string} & Record<string, unknown>) | null}
 */
export function wireEvent(event) {
  switch (event.type) {
    case "message.updated": {
      const { info } = event.properties;
      if (info.role !== "assistant" || !info.finish || info.summary) return null;
      return { sessionID: info.sessionID, type: "usage", messageID: info.id, tokens: info.tokens };
    }
    case "session.error": {
      const { sessionID, error } = event.properties;
      if (!sessionID || !error) return null;
      /** @type {{message?: string, statusCode?: number, responseBody?: string}} */
      const data = error.data ?? {};
      return {
        sessionID,
        type: "error",
        name: error.name,
        message: data.message ?? "",
        status: data.statusCode,
        overflow: isOverflow(error.name, data),
      };
    }
    case "session.idle":
      return { sessionID: event.properties.sessionID, type: "idle" };
    case "session.deleted":
      return { sessionID: event.properties.info.id, type: "deleted" };
  }
  return null;
}

// What providers say that the host does not take for an overflow.
const TOO_LONG = /prompt is too long|context (limit|length|window)|too many tokens/i;

/**
 * @param {string} name
 * @param {{message?: string, statusCode?: number, responseBody?: string}} data
 */
function isOverflow(name, { message, statusCode, responseBody }) {
  if (name === "ContextOverflowError" || statusCode === 413) return true;
  return statusCode === 400 && TOO_LONG.test(`${message} ${responseBody}`);
}
