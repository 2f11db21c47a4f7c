/**
 * `host/generate`: a text of one of the user's models, from a hidden child session
 * with a hidden agent that has no tools. The child is deleted afterwards, and is
 * itself left alone by every hook.
 */

/** @typedef {import("./host.js").PluginInput} PluginInput */
/** @typedef {import("./host.js").Event} Event */

export const AGENT = "ctx-historian";
const TITLE = "ctx-historian";
const OWNED_KEPT = 500; // children whose late events are still known
const DELETE_MS = 10_000;

/**
 * @typedef {object} Params
 * @property {string} [sessionID] on whose behalf
 * @property {string} system
 * @property {string} prompt
 * @property {string} [model] provider/model
 * @property {number} [maxTokens]
 * @property {number} [temperature]
 */

/** @typedef {{providerID: string, modelID: string}} ModelName */

/** A failure with its verdict, in the words of docs/protocol.md. */
export class GenerateError extends Error {
  /**
   * @param {string} verdict
   * @param {string} message
   * @param {number} [retryAfterMs]
   */
  constructor(verdict, message, retryAfterMs = 0) {
    super(message);
    this.data = { verdict, retryAfterMs };
  }
}

export class Generator {
  /**
   * @param {PluginInput["client"]} client
   * @param {string} directory
   */
  constructor(client, directory) {
    this.client = client;
    this.query = { directory };
    /** @type {Map<string, ModelName>} the model that each session was last seen with */
    this.models = new Map();
    /** @type {Map<string, Child>} children, those that are gone too, oldest first */
    this.children = new Map();
  }

  /** The agent, whatever a project's configuration says about one of this name. */
  static agent() {
    return {
      mode: "primary", // as those of the host itself: no tool of the model offers it
      hidden: true,
      description: "internal",
      prompt: "You write the memory of a coding agent.",
      permission: { "*": "deny" },
    };
  }

  /**
   * Whether a session is a child of ours.
   * @param {string | undefined} sessionID
   */
  owns(sessionID) {
    return sessionID !== undefined && this.children.has(sessionID);
  }

  /**
   * @param {string} sessionID
   * @param {ModelName | undefined} model
   */
  seen(sessionID, model) {
    if (!model?.modelID || this.owns(sessionID)) return;
    this.models.delete(sessionID);
    this.models.set(sessionID, { providerID: model.providerID, modelID: model.modelID });
    for (const oldest of this.models.keys()) {
      if (this.models.size <= OWNED_KEPT) break;
      this.models.delete(oldest);
    }
  }

  /**
   * @param {Params} params
   * @param {AbortSignal} signal
   */
  async generate(params, signal) {
    const parentID = params.sessionID || undefined;
    const model = params.model ? modelName(params.model) : this.models.get(parentID ?? "");
    if (params.model && model && !(await this.#has(model)))
      throw new GenerateError("unknown-model", `OpenCode has no model ${params.model}`);
    if (parentID) await this.#sweep(parentID);
    const created = await this.client.session.create({
      query: this.query,
      body: { title: TITLE, parentID },
    });
    const id = created.data?.id;
    if (!id) throw new GenerateError("request", `no session could be made: ${said(created.error)}`);
    const child = new Child(params);
    this.children.set(id, child);
    const stop = () => child.end(new GenerateError("cancelled", "given up"));
    signal.addEventListener("abort", stop);
    try {
      if (signal.aborted) throw new GenerateError("cancelled", "given up");
      const asked = this.client.session.prompt({
        path: { id },
        query: this.query,
        body: { agent: AGENT, model, parts: [{ type: "text", text: params.prompt }] },
      });
      asked.catch(() => {}); // when the child ends first, nobody waits for it
      const ended = await Promise.race([asked, child.ended]);
      if (ended instanceof GenerateToolCall) return { text: "", finish: "tool", toolCall: true, usage: {} };
      if (ended instanceof Error) throw ended;
      if (!("data" in ended) || !ended.data) {
        throw failureOf(/** @type {any} */ (ended).error, params.model);
      }
      const { info, parts } = ended.data;
      return replyOf(/** @type {any} */ (info), /** @type {any[]} */ (parts), child, params.model);
    } finally {
      signal.removeEventListener("abort", stop);
      child.over = true;
      await this.#remove(id);
    }
  }

  /**
   * Whether the host has a model. Asked for one that it has not, it only says that
   * something went wrong.
   * @param {ModelName} name
   */
  async #has({ providerID, modelID }) {
    try {
      const { data } = await this.client.config.providers({ query: this.query });
      const provider = data?.providers.find(({ id }) => id === providerID);
      return !data || provider?.models[modelID] !== undefined;
    } catch {
      return true; // the call itself will tell
    }
  }

  /** @param {string} id */
  async #remove(id) {
    const timeout = { signal: AbortSignal.timeout(DELETE_MS) };
    await this.client.session.abort({ path: { id }, query: this.query, ...timeout }).catch(() => {});
    await this.client.session.delete({ path: { id }, query: this.query, ...timeout }).catch(() => {});
    for (const [oldest, { over }] of this.children) {
      if (this.children.size <= OWNED_KEPT) break;
      if (over) this.children.delete(oldest);
    }
  }

  /**
   * Removes children that an earlier process of the host left behind.
   * @param {string} parentID
   */
  async #sweep(parentID) {
    try {
      const { data } = await this.client.session.children({ path: { id: parentID }, query: this.query });
      for (const { id, title } of data ?? []) {
        if (title === TITLE && !this.children.has(id)) await this.#remove(id);
      }
    } catch {
      // they hurt nobody
    }
  }

  /**
   * The text that a request of a child begins with: ours and nothing else, whatever
   * files of instructions the host adds.
   * @param {string | undefined} sessionID
   * @param {string[]} system
   */
  system(sessionID, system) {
    const child = this.children.get(sessionID ?? "");
    if (child) system.splice(0, system.length, child.params.system);
  }

  /**
   * @param {string} sessionID
   * @param {{temperature?: number, maxOutputTokens?: number | undefined}} output
   */
  request(sessionID, output) {
    const child = this.children.get(sessionID);
    if (!child) return;
    const { maxTokens, temperature } = child.params;
    if (maxTokens) output.maxOutputTokens = Math.min(maxTokens, output.maxOutputTokens || maxTokens);
    if (temperature === undefined) delete output.temperature;
    else output.temperature = temperature;
  }

  /**
   * Takes the events of children, and reports whether this was one.
   * @param {Event} event
   */
  event(event) {
    const properties = /** @type {any} */ (event.properties);
    const id = properties?.sessionID ?? properties?.part?.sessionID ?? properties?.info?.sessionID;
    const child = this.children.get(id ?? properties?.info?.id);
    if (!child) return false;
    if (event.type === "message.part.updated" && properties.part.type === "tool") {
      child.toolCall = true;
      child.end(new GenerateToolCall());
    }
    // The host would try again by itself, for minutes.
    if (event.type === "session.status" && properties.status?.type === "retry") {
      const { message, next } = properties.status;
      child.end(
        new GenerateError(
          verdictOf(undefined, message),
          String(message),
          Math.max(0, Number(next) - Date.now()) || 0,
        ),
      );
    }
    if (event.type === "session.error" && properties.error) child.error = properties.error;
    return true;
  }
}

/** The model called a tool, though none was offered: there will be no better answer. */
class GenerateToolCall extends Error {}

/** One call under way. */
class Child {
  /** @param {Params} params */
  constructor(params) {
    this.params = params;
    this.over = false;
    this.toolCall = false;
    /** @type {any} */
    this.error = undefined;
    /** @type {(error: Error) => void} */
    this.end = () => {};
    /** @type {Promise<Error>} */
    this.ended = new Promise((resolve) => (this.end = resolve));
  }
}

/**
 * @param {any} info of the answer
 * @param {any[]} parts
 * @param {Child} child
 * @param {string | undefined} asked
 */
function replyOf(info, parts, child, asked) {
  const error = info?.error;
  const length = error?.name === "MessageOutputLengthError";
  if (error && !length) throw failureOf(error, asked);
  const text = parts
    .filter(({ type, ignored }) => type === "text" && !ignored)
    .map((part) => part.text)
    .join("");
  const toolCall = child.toolCall || parts.some(({ type }) => type === "tool");
  return {
    text,
    finish: length ? "length" : (FINISH[info.finish] ?? String(info.finish ?? "")),
    toolCall,
    reasoning: parts.some(({ type }) => type === "reasoning") || (info.tokens?.reasoning ?? 0) > 0,
    model: `${info.providerID}/${info.modelID}`,
    usage: info.tokens ?? {},
    cost: Math.ceil((Number(info.cost) || 0) * 1e6),
  };
}

/** @type {Record<string, string>} */
const FINISH = { "tool-calls": "tool", "content-filter": "refusal" };

/**
 * What an error of the host means.
 * @param {any} error
 * @param {string | undefined} asked
 */
function failureOf(error, asked) {
  const { name = "", data = {} } = error ?? {};
  const message = said(error);
  let verdict = verdictOf(data.statusCode, `${name} ${message} ${data.responseBody ?? ""}`);
  if (name === "ProviderAuthError") verdict = "auth";
  if (name === "ContextOverflowError") verdict = "too-long";
  if (name === "MessageAbortedError") verdict = "cancelled";
  const after = Number(data.responseHeaders?.["retry-after"]) * 1000 || 0;
  const about = verdict === "unknown-model" && asked ? `${asked}: ` : "";
  return new GenerateError(verdict, about + message, after);
}

/** @param {any} error */
function said(error) {
  const message = error?.data?.message ?? error?.message ?? error?.name ?? error;
  return typeof message === "string" ? message : (JSON.stringify(message) ?? "no reason was given");
}

/**
 * @param {number | undefined} status
 * @param {string} text
 */
function verdictOf(status, text) {
  if (status === 401 || status === 402 || status === 403) return "auth";
  if (status === 429 || /rate.?limit|too many requests|\b429\b/i.test(text)) return "rate-limit";
  if (/model.?not.?found|no such model|unknown model|model .*(not found|does not exist)/i.test(text))
    return "unknown-model";
  if (status === 404) return "unknown-model";
  if (status === 413 || /prompt is too long|context (limit|length|window)|too many tokens/i.test(text))
    return "too-long";
  if (status === 408) return "timeout";
  if (status !== undefined && status >= 400 && status < 500) return "request";
  if (/ECONNREFUSED|ENOTFOUND|fetch failed|unable to connect|socket|network/i.test(text)) return "network";
  return "server";
}

/** @param {string} name provider/model */
function modelName(name) {
  const slash = name.indexOf("/");
  return { providerID: name.slice(0, slash), modelID: name.slice(slash + 1) };
}
