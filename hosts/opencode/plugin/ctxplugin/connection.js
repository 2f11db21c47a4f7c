/**
 * The binary as the hooks see it: started when needed, restarted with growing
 * pauses when it dies, killed when it hangs. Every call has a time limit.
 */
import { Process, RpcError, TimeoutError } from "./process.js";

const PROTOCOL_VERSION = 1;
const STEADY_MS = 10_000; // a run as long as this was no failed start
const PAUSE_MS = 250; // doubled by every failed start
const LONGEST_PAUSE_MS = 30_000;

/**
 * @typedef {object} Hello the answer to initialize
 * @property {{name: string, version: string}} server
 * @property {{name: string, description: string, inputSchema: Record<string, any>}[]} tools
 * @property {{pattern: string, refusal: string}} [placeholder] what tells a stub, and what to say of one
 */

/**
 * @typedef {object} ConnectionOptions
 * @property {string} command
 * @property {string[]} args
 * @property {string} cwd
 * @property {object} initialize params of initialize, without the version
 * @property {import("./timing.js").Timing} timing
 * @property {(level: string, text: string) => void} notice
 * @property {(params: any, signal: AbortSignal) => Promise<any>} [generate] serves host/generate
 * @property {(news: import("./standing.js").News) => void} [planned] takes host/plan
 */

export class Connection {
  /** @param {ConnectionOptions} options */
  constructor(options) {
    this.options = options;
    this.timing = options.timing;
    /** @type {Process | null} */
    this.process = null;
    /** @type {Hello | null} set while a process that answered initialize runs */
    this.hello = null;
    /** counts the processes that answered: what one of them was told, another need not know */
    this.generation = 0;
    /** @type {Promise<Hello | null> | null} */
    this.starting = null;
    this.startingSince = 0;
    this.failures = 0;
    this.notBefore = 0;
    /** the first question since the binary was last heard that nobody waits for any more; ms of performance.now, 0 for none */
    this.silentSince = 0;
    this.closed = false;
  }

  /**
   * The binary's hello, starting it if need be; null if it does not answer in time.
   * @param {number} ms
   * @returns {Promise<Hello | null>}
   */
  async ready(ms) {
    if (this.hello) return this.hello;
    if (!this.starting) {
      if (this.closed || Date.now() < this.notBefore) return null;
      this.startingSince = Date.now();
      this.starting = this.#start().finally(() => (this.starting = null));
    }
    const slow = Date.now() - this.startingSince > ms; // one turn has waited for it already
    return within(slow ? this.timing.slowStart : ms, this.starting, null);
  }

  /** Whether the last question went unanswered and nothing was heard since. */
  get silent() {
    return this.silentSince > 0;
  }

  /**
   * Says that a caller stopped waiting for what it asked since `askedAt`, in ms of
   * performance.now.
   * @param {number} askedAt
   */
  gaveUp(askedAt) {
    if (this.hello && this.process) this.#unanswered(this.process, askedAt);
  }

  /**
   * @param {string} method
   * @param {object | string} params an object, or its JSON text
   * @param {number} ms
   * @returns {Promise<any>}
   */
  async request(method, params, ms) {
    const process = this.process;
    if (!process || !this.hello) throw new Error("the binary is not running");
    const askedAt = performance.now();
    try {
      return await process.request(method, typeof params === "string" ? params : JSON.stringify(params), ms);
    } catch (error) {
      if (error instanceof TimeoutError) this.#unanswered(process, askedAt);
      throw error;
    } finally {
      if (process.heardAt > askedAt) this.silentSince = 0;
    }
  }

  /**
   * Tells the binary something, if it runs; never starts it.
   * @param {string} method
   * @param {object} params
   */
  notify(method, params) {
    if (this.hello) this.process?.notify(method, params);
  }

  async close() {
    this.closed = true;
    await this.process?.close(this.timing.close);
  }

  /** @returns {Promise<Hello | null>} */
  async #start() {
    const { command, args, cwd, initialize, notice, generate, planned } = this.options;
    /** @type {Process} */
    let process;
    try {
      process = new Process(
        { command, args, cwd },
        {
          notified: (method, params) => {
            if (method === "host/notify") notice(String(params?.level ?? "info"), String(params?.text ?? ""));
            else if (method === "host/plan") planned?.(params ?? {});
          },
          asked: (method, params, signal) => {
            if (method === "host/generate" && generate) return generate(params, signal);
            throw Object.assign(new Error(`this host does not serve ${method}`), { code: -32601 });
          },
          ended: (reason) => this.#ended(process, reason),
        },
      );
    } catch (error) {
      this.#failed(String(error));
      return null;
    }
    this.process = process;
    try {
      const params = JSON.stringify({ protocolVersion: PROTOCOL_VERSION, ...initialize });
      const hello = await process.request("initialize", params, this.timing.initialize);
      if (hello?.protocolVersion !== PROTOCOL_VERSION) throw new Error(`it speaks another protocol`);
      this.generation++;
      this.silentSince = 0;
      const { pattern, refusal } = hello.placeholder ?? {};
      const placeholder = typeof pattern === "string" ? { pattern, refusal: String(refusal) } : undefined;
      this.hello = {
        server: hello.server,
        placeholder,
        tools: Array.isArray(hello.tools) ? hello.tools : [],
      };
      return this.hello;
    } catch (error) {
      if (error instanceof RpcError || error instanceof TimeoutError)
        notice("warning", `${command}: ${error.message}`);
      process.kill();
      return null;
    }
  }

  /**
   * @param {Process} process
   * @param {string} reason
   */
  #ended(process, reason) {
    if (this.process !== process) return;
    const steady = this.hello && Date.now() - process.startedAt > STEADY_MS;
    this.process = null;
    this.hello = null;
    this.silentSince = 0;
    if (this.closed) return;
    if (steady) this.failures = 0;
    this.#failed(reason);
  }

  /** @param {string} reason */
  #failed(reason) {
    this.failures++;
    // The first failure is no reason to wait: a killed binary is back for the next step.
    const pause = this.failures < 2 ? 0 : PAUSE_MS * 2 ** Math.min(this.failures - 2, 10);
    this.notBefore = Date.now() + Math.min(pause, LONGEST_PAUSE_MS);
    this.options.notice("warning", `${this.options.command} ${reason}`);
  }

  /**
   * @param {Process} process
   * @param {number} askedAt
   */
  #unanswered(process, askedAt) {
    if (process.heardAt > askedAt) return;
    this.silentSince ||= askedAt;
    if (performance.now() - this.silentSince >= this.timing.hang) process.kill();
  }
}

/**
 * The value of a promise, or `otherwise` when it takes longer than `ms` or fails.
 * @template T, U
 * @param {number} ms
 * @param {Promise<T>} promise
 * @param {U} otherwise
 * @returns {Promise<T | U>}
 */
export function within(ms, promise, otherwise) {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(otherwise), ms);
    promise.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      () => {
        clearTimeout(timer);
        resolve(otherwise);
      },
    );
  });
}
