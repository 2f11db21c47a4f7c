/**
 * What the host knows about the models and about the fixed part of a request,
 * remembered from the hooks that see it: it comes after the hook that needs it.
 */
import { within } from "./connection.js";

/** @typedef {import("./host.js").Model} Model */
/** @typedef {import("./host.js").PluginInput} PluginInput */
/** @typedef {import("./host.js").Config} Config */

const REFETCH_MS = 60_000;

/** The models of the host, by provider and id. */
export class Models {
  /** @param {PluginInput["client"]} client */
  constructor(client) {
    this.client = client;
    /** @type {Map<string, Model>} */
    this.known = new Map();
    /** @type {Promise<unknown> | null} */
    this.fetching = null;
    this.fetchedAt = 0;
    /** @type {Config["provider"]} */
    this.configured = {};
  }

  /** @param {Model} model */
  note(model) {
    this.known.set(modelKey(model.providerID, model.id), model);
  }

  /**
   * A model that was seen already.
   * @param {{providerID: string, modelID: string}} ref
   */
  get({ providerID, modelID }) {
    return this.known.get(modelKey(providerID, modelID));
  }

  /**
   * @param {{providerID: string, modelID: string}} ref
   * @param {number} ms longest to wait for the host's list
   * @returns {Promise<Model | undefined>}
   */
  async lookup(ref, ms) {
    if (!this.get(ref)) await within(ms, this.fetch(), null);
    return this.get(ref);
  }

  /** Asks the host for its list, unless it did so lately. */
  async fetch() {
    if (Date.now() - this.fetchedAt < REFETCH_MS) return this.fetching;
    this.fetchedAt = Date.now();
    this.fetching = this.client.config.providers().then(({ data }) => {
      for (const provider of data?.providers ?? []) {
        for (const model of Object.values(provider.models)) this.note(model);
      }
    });
    return this.fetching;
  }

  /**
   * Whether zeros in a model's prices were set, and are not the host's default
   * for a model that the user's configuration gives no prices.
   * @param {Model | undefined} model
   */
  priced(model) {
    const own = model && this.configured?.[model.providerID]?.models?.[model.id];
    return !own || own.cost !== undefined;
  }
}

/** Sizes of the system text and the tool definitions of requests. */
export class FixedParts {
  /** @param {PluginInput["client"]} client */
  constructor(client) {
    this.client = client;
    /** @type {Map<string, number>} bytes of each tool definition, as far as its hook shows it */
    this.tools = new Map();
    /** @type {Map<string, number>} bytes of the schemas that the hook does not show */
    this.schemas = new Map();
    /** @type {Set<string>} models whose tools were asked for */
    this.listed = new Set();
    /** @type {Map<string, string[]>} system text of a request under way, by session */
    this.pending = new Map();
    /** @type {Map<string, string[]>} system text last seen, by agent and model */
    this.systems = new Map();
  }

  /**
   * @param {string} toolID
   * @param {{description: string, jsonSchema?: object}} definition
   */
  tool(toolID, { description, jsonSchema }) {
    if (jsonSchema) this.schemas.set(toolID, Buffer.byteLength(JSON.stringify(jsonSchema)));
    this.tools.set(toolID, toolID.length + Buffer.byteLength(description ?? ""));
  }

  /**
   * Asks the host, once a model, for the schemas of its own tools.
   * @param {{providerID: string, modelID: string}} model
   */
  async list({ providerID, modelID }) {
    const key = modelKey(providerID, modelID);
    if (this.listed.has(key)) return;
    this.listed.add(key);
    const { data } = await this.client.tool.list({ query: { provider: providerID, model: modelID } });
    for (const { id, parameters } of data ?? []) {
      this.schemas.set(id, Buffer.byteLength(JSON.stringify(parameters)));
    }
  }

  /**
   * The system text of a request. The array itself is kept: hooks of other
   * plugins and the host change it until the request is built.
   * @param {string | undefined} sessionID
   * @param {string[]} system
   */
  system(sessionID, system) {
    if (sessionID) this.pending.set(sessionID, system);
  }

  /**
   * The agent and model of the request whose system text came just before.
   * @param {string} sessionID
   * @param {string} agent
   * @param {Model} model
   */
  request(sessionID, agent, model) {
    const system = this.pending.get(sessionID);
    if (!system) return;
    this.pending.delete(sessionID);
    this.systems.set(`${agent} ${modelKey(model.providerID, model.id)}`, system);
  }

  /**
   * UTF-8 bytes and blocks of the system text, and bytes of the tool
   * definitions; undefined until a request of this agent and model was seen.
   * @param {string} agent
   * @param {{providerID: string, modelID: string}} model
   * @returns {{bytes: number, blocks: number} | undefined}
   */
  seen(agent, model) {
    const system = this.systems.get(`${agent} ${modelKey(model.providerID, model.modelID)}`);
    if (!system) return undefined;
    let bytes = 0;
    for (const text of system) bytes += Buffer.byteLength(text);
    for (const [id, size] of this.tools) bytes += size + (this.schemas.get(id) ?? 0);
    return { bytes, blocks: system.length };
  }
}

/**
 * @param {string} providerID
 * @param {string} modelID
 */
function modelKey(providerID, modelID) {
  return `${providerID}/${modelID}`;
}
