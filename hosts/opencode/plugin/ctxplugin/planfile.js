/**
 * The last plan of each session in a file, so that a restart of the host without
 * the binary sends the same bytes. Written behind the turn, atomically, for the
 * owner's eyes alone.
 */
import { readFileSync } from "node:fs";
import { mkdir, readdir, rename, stat, unlink, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { isPlan } from "./plan.js";

/** @typedef {import("./plan.js").Plan} Plan */

/**
 * @typedef {object} Kept
 * @property {Plan} plan
 * @property {boolean} applied whether the last request went out with it
 * @property {string} cut where the list was cut without the binary, "" if nowhere
 * @property {Fixed} [fixed] the fixed part last seen
 */
/**
 * @typedef {object} Fixed what every request of a session has beside its messages
 * @property {number} bytes of system text and tool definitions
 * @property {number} blocks of system text
 * @property {string} plugins the host's plugins at that time
 */

const VERSION = 1;
const FORGOTTEN_AFTER_MS = 60 * 24 * 3600 * 1000;

/**
 * Below the state folder of the XDG rules, by which a relative path is ignored.
 * @param {NodeJS.ProcessEnv} env
 */
export function planFolder(env) {
  const state = env.XDG_STATE_HOME ?? "";
  return join(isAbsolute(state) ? state : join(homedir(), ".local", "state"), "ctxplugin", "opencode");
}

export class PlanFiles {
  /** @param {string} folder */
  constructor(folder) {
    this.folder = folder;
    /** @type {Map<string, Kept>} what waits to be written, by session */
    this.waiting = new Map();
    /** @type {Promise<void>} */
    this.writing = Promise.resolve();
  }

  /**
   * @param {string} sessionID
   * @returns {Kept | null}
   */
  load(sessionID) {
    try {
      const { version, ...kept } = JSON.parse(readFileSync(this.#path(sessionID), "utf8"));
      return version === VERSION && isPlan(kept.plan) ? kept : null;
    } catch {
      return null; // none, or not ours to read: as if there were none
    }
  }

  /**
   * Keeps a session's plan. Returns at once; a newer one replaces what waits.
   * @param {string} sessionID
   * @param {Kept} kept
   */
  save(sessionID, kept) {
    const queued = this.waiting.has(sessionID);
    this.waiting.set(sessionID, kept);
    if (!queued) this.writing = this.writing.then(() => this.#write(sessionID)).catch(() => {});
  }

  /** @param {string} sessionID */
  forget(sessionID) {
    this.waiting.delete(sessionID);
    this.writing = this.writing.then(() => unlink(this.#path(sessionID))).catch(() => {});
  }

  /** Removes the files of sessions not seen for two months. */
  async sweep() {
    const oldest = Date.now() - FORGOTTEN_AFTER_MS;
    for (const name of await readdir(this.folder).catch(() => [])) {
      const path = join(this.folder, name);
      const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity }));
      if (mtimeMs < oldest) await unlink(path).catch(() => {});
    }
  }

  /** Waits until everything is written. */
  async flush() {
    await this.writing;
  }

  /** @param {string} sessionID */
  async #write(sessionID) {
    const kept = this.waiting.get(sessionID);
    if (!kept) return;
    this.waiting.delete(sessionID);
    const path = this.#path(sessionID);
    const temporary = `${path}.${process.pid}.tmp`;
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    await writeFile(temporary, JSON.stringify({ version: VERSION, ...kept }), { mode: 0o600 });
    await rename(temporary, path);
  }

  /** @param {string} sessionID */
  #path(sessionID) {
    return join(this.folder, `${encodeURIComponent(sessionID).replaceAll(".", "%2E")}.json`);
  }
}
