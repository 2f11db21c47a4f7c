/**
 * The newest message of the assistant as events tell of it, part by part: when a turn
 * has ended it stands behind the last list, and no other list shows it before the next
 * turn.
 */

/** @typedef {import("./host.js").Message} Message */
/** @typedef {import("./host.js").Part} Part */

export class Newest {
  constructor() {
    /** @type {Message["info"] | null} */
    this.info = null;
    /** @type {Map<string, Part>} by id */
    this.parts = new Map();
  }

  /** @param {Message["info"]} info */
  message(info) {
    if (info.role !== "assistant") return;
    if (info.id !== this.info?.id) this.parts = new Map();
    this.info = info;
  }

  /** @param {Part} part */
  part(part) {
    if (part.messageID === this.info?.id) this.parts.set(part.id, part);
  }

  /** @param {string} id */
  removed(id) {
    this.parts.delete(id);
  }

  /**
   * The message, if it has ended.
   * @returns {Message | null}
   */
  ended() {
    const { info, parts } = this;
    if (info?.role !== "assistant" || !info.finish || info.summary || parts.size === 0) return null;
    return { info, parts: [...parts.values()].sort((x, y) => (x.id < y.id ? -1 : 1)) }; // as the host lists them
  }
}
