/**
 * One session's list as the binary holds it, and the way to bring it up to date:
 * only what is new or changed goes over the wire.
 */
import { RpcError } from "./process.js";
import { revisions } from "./revision.js";
import { infoMark, wireMessage } from "./wire.js";

/** @typedef {import("./host.js").Message} Message */
/** @typedef {import("./connection.js").Connection} Connection */
/** @typedef {import("./revision.js").Revisions} Revisions */

const PIECE_BYTES = 8 << 20;
const BYTES_PER_MS = 500; // slowest that a binary may store a piece before it counts as hung

/**
 * @typedef {object} Snapshot a list of the host at one step, before anything is changed in it
 * @property {Message[]} messages
 * @property {Revisions} revs
 * @property {Float64Array} marks
 */

/**
 * @param {Message[]} messages
 * @returns {Snapshot}
 */
export function snapshot(messages) {
  return {
    messages: [...messages],
    revs: revisions(messages),
    marks: Float64Array.from(messages, infoMark),
  };
}

export class Mirror {
  /**
   * @param {Connection} connection
   * @param {string} sessionID
   */
  constructor(connection, sessionID) {
    this.connection = connection;
    this.sessionID = sessionID;
    /** @type {string | undefined} the session that this one is a child of */
    this.parent = undefined;
    /** @type {{generation: number, revs: Revisions, marks: Float64Array} | null} */
    this.held = null;
    /** @type {Set<string>} messages that events named since the last sync */
    this.edited = new Set();
  }

  /**
   * Brings the binary up to date and returns its name for the list.
   * @param {Snapshot} list
   * @param {{abandoned: boolean}} call once abandoned, the messages are no longer what was seen
   * @returns {Promise<string>}
   */
  async sync(list, call) {
    const { revs } = list;
    const { generation } = this.connection;
    const held = this.held?.generation === generation ? this.held : null;
    const keep = this.#unchanged(list, held);
    if (held && keep === revs.count && keep === held.revs.count) return revs.at();

    const edited = this.edited;
    this.edited = new Set();
    this.held = null;
    let rev;
    try {
      rev = await this.#send(list, held ? held.revs.at() : revs.at(keep), keep);
    } catch (error) {
      for (const id of edited) this.edited.add(id);
      if (!(error instanceof RpcError) || error.code !== "resync" || call.abandoned) throw error;
      const place = Number(error.data.keep);
      const agreed = place <= keep && error.data.check === revs.at(place) ? place : 0;
      rev = await this.#send(list, revs.at(agreed), agreed);
      for (const id of edited) this.edited.delete(id);
    }
    if (rev === revs.at()) this.held = { generation, revs, marks: list.marks };
    return rev;
  }

  /** Forgets what the binary holds, after it said that it holds something else. */
  doubt() {
    this.held = null;
  }

  /**
   * How many leading messages the binary has as they are now. A process that was
   * never told about the session is taken to know all of it from its store.
   * @param {Snapshot} list
   * @param {{revs: Revisions, marks: Float64Array} | null} held
   */
  #unchanged({ messages, revs, marks }, held) {
    const same = held ? revs.common(held.revs) : revs.count;
    if (!held && this.edited.size === 0) return same;
    for (let i = 0; i < same; i++) {
      if (held && marks[i] !== held.marks[i]) return i;
      if (this.edited.has(messages[i].info.id)) return i;
    }
    return same;
  }

  /**
   * @param {Snapshot} list
   * @param {string} base
   * @param {number} keep
   * @returns {Promise<string>}
   */
  async #send({ messages, revs }, base, keep) {
    let check = revs.at(keep);
    const pieces = intoPieces(messages.slice(keep).map(wireMessage));
    for (const [i, piece] of pieces.entries()) {
      const params =
        `{"sessionID":${JSON.stringify(this.sessionID)},` +
        (this.parent ? `"parent":${JSON.stringify(this.parent)},` : "") +
        `"base":"${base}","keep":${keep},"check":"${check}",` +
        `"messages":[${piece.texts.join(",")}],"more":${i < pieces.length - 1}}`;
      const reply = await this.connection.request(
        "session/sync",
        params,
        this.connection.timing.sync + piece.bytes / BYTES_PER_MS,
      );
      base = check = String(reply?.rev);
      keep += piece.texts.length;
    }
    return base;
  }
}

/**
 * @param {string[]} texts
 * @returns {{texts: string[], bytes: number}[]} at least one piece
 */
function intoPieces(texts) {
  const pieces = [{ texts: /** @type {string[]} */ ([]), bytes: 0 }];
  for (const text of texts) {
    const bytes = Buffer.byteLength(text);
    let piece = pieces[pieces.length - 1];
    if (piece.bytes > 0 && piece.bytes + bytes > PIECE_BYTES) pieces.push((piece = { texts: [], bytes: 0 }));
    piece.texts.push(text);
    piece.bytes += bytes;
  }
  return pieces;
}
