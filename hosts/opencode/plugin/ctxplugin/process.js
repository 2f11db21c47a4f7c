/**
 * One run of the binary: JSON-RPC over its stdin and stdout, one JSON text a
 * line. Anything on stdout that is no JSON-RPC is skipped, so that a chatty
 * process cannot break a turn.
 */
import { spawn } from "node:child_process";
import { reached } from "./trace.js";

const LINE_CAP = 64 << 20;
const STDERR_KEPT = 2000;

/** An error reply of the binary. */
export class RpcError extends Error {
  /** @param {{message?: unknown, data?: {code?: unknown} | null}} error */
  constructor(error) {
    super(String(error.message ?? "the binary answered with an error"));
    /** @type {string} the stable name from docs/protocol.md */
    this.code = String(error.data?.code ?? "internal");
    /** @type {Record<string, unknown>} */
    this.data = error.data ?? {};
  }
}

/** No answer within the time given. */
export class TimeoutError extends Error {}

/**
 * @typedef {object} Peer what the other end may ask of us
 * @property {(method: string, params: any) => void} notified
 * @property {(method: string, params: any, signal: AbortSignal) => Promise<any>} [asked] answers a request; what it throws may have `data`
 * @property {(reason: string) => void} ended called once, when the process is gone
 */

/** @typedef {{resolve(value: any): void, reject(error: Error): void, timer: NodeJS.Timeout}} Pending */

export class Process {
  /**
   * @param {{command: string, args: string[], cwd: string}} how
   * @param {Peer} peer
   */
  constructor(how, peer) {
    this.peer = peer;
    this.startedAt = Date.now();
    /** when the last well-formed frame came */
    /** when it last said anything; ms of performance.now, for within one of Date.now it may be heard and asked again */
    this.heardAt = 0;
    this.stderr = "";
    this.partial = "";
    this.nextID = 1;
    /** @type {Map<number, Pending>} */
    this.pending = new Map();
    this.gone = false;
    /** @type {Map<string | number, AbortController>} requests of the binary that are under way */
    this.answering = new Map();
    this.child = spawn(how.command, how.args, {
      cwd: how.cwd,
      stdio: ["pipe", "pipe", "pipe"],
      windowsHide: true,
    });
    this.child.on("error", (error) => this.#end(error.message));
    this.child.on("exit", (code, signal) =>
      this.#end(`exited with ${signal ?? `code ${code}`}${this.stderr && `: ${this.stderr.trim()}`}`),
    );
    this.child.stdin.on("error", () => {}); // EPIPE: the exit event tells
    this.child.stdout.on("error", () => {});
    this.child.stderr.on("error", () => {});
    this.child.stderr.setEncoding("utf8").on("data", (text) => {
      this.stderr = (this.stderr + text).slice(-STDERR_KEPT);
    });
    this.child.stdout.setEncoding("utf8").on("data", (chunk) => this.#read(chunk));
  }

  /**
   * Sends a request. `params` is JSON text, so that a large list is serialised once.
   * @param {string} method
   * @param {string} params
   * @param {number} ms
   * @returns {Promise<any>}
   */
  request(method, params, ms) {
    if (this.gone) return Promise.reject(new Error("the binary is not running"));
    const id = this.nextID++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.pending.delete(id);
        this.notify("$/cancelRequest", { id });
        reject(new TimeoutError(`no answer to ${method} in ${ms} ms`));
      }, ms);
      this.pending.set(id, { resolve, reject, timer });
      this.#write(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}\n`);
    });
  }

  /**
   * @param {string} method
   * @param {object} params
   */
  notify(method, params) {
    this.#write(`{"jsonrpc":"2.0","method":"${method}","params":${JSON.stringify(params)}}\n`);
  }

  /**
   * Ends the process: it exits at the end of its stdin, or is killed.
   * @param {number} ms
   */
  async close(ms) {
    if (this.gone) return;
    const exited = new Promise((resolve) => this.child.once("exit", resolve));
    this.child.stdin.end();
    const timer = setTimeout(() => this.kill(), ms);
    await exited;
    clearTimeout(timer);
  }

  kill() {
    this.child.kill("SIGKILL");
  }

  /** @param {string} line */
  #write(line) {
    if (!this.gone && this.child.stdin.writable) this.child.stdin.write(line);
  }

  /** @param {string} chunk */
  #read(chunk) {
    reached("heard");
    let from = 0;
    for (let end = chunk.indexOf("\n"); end >= 0; end = chunk.indexOf("\n", from)) {
      const line = this.partial + chunk.slice(from, end);
      this.partial = "";
      from = end + 1;
      this.#frame(line);
    }
    this.partial += chunk.slice(from);
    if (this.partial.length > LINE_CAP) this.kill();
  }

  /** @param {string} line */
  #frame(line) {
    let frame;
    try {
      frame = JSON.parse(line);
    } catch {
      return;
    }
    if (frame?.jsonrpc !== "2.0") return;
    this.heardAt = performance.now();
    if (typeof frame.method === "string") {
      if (frame.method === "$/cancelRequest") return this.answering.get(frame.params?.id)?.abort();
      if (frame.id === undefined) return this.peer.notified(frame.method, frame.params);
      this.#answer(frame.id, frame.method, frame.params);
      return;
    }
    const pending = this.pending.get(frame.id);
    if (!pending) return; // late: its caller has gone on
    this.pending.delete(frame.id);
    clearTimeout(pending.timer);
    if (frame.error) pending.reject(new RpcError(frame.error));
    else pending.resolve(frame.result);
  }

  /**
   * @param {string | number} id
   * @param {string} method
   * @param {any} params
   */
  async #answer(id, method, params) {
    const giveUp = new AbortController();
    this.answering.set(id, giveUp);
    /** @type {object} */
    let reply;
    try {
      if (!this.peer.asked)
        throw Object.assign(new Error(`this host does not serve ${method}`), { code: -32601 });
      reply = { result: (await this.peer.asked(method, params, giveUp.signal)) ?? null };
    } catch (thrown) {
      const { code = -32000, message = String(thrown), data } = /** @type {any} */ (thrown ?? {});
      reply = { error: { code, message, data } };
    }
    this.answering.delete(id);
    this.#write(JSON.stringify({ jsonrpc: "2.0", id, ...reply }) + "\n");
  }

  /** @param {string} reason */
  #end(reason) {
    if (this.gone) return;
    this.gone = true;
    for (const giveUp of this.answering.values()) giveUp.abort();
    for (const { reject, timer } of this.pending.values()) {
      clearTimeout(timer);
      reject(new Error(`the binary ${reason}`));
    }
    this.pending.clear();
    this.peer.ended(reason);
  }
}
