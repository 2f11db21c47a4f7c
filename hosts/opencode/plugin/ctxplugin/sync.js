/**
 * One session's list as the binary holds it, and the way to bring it up to date:
 * only what is new or changed goes over the wire.
 */
import { revisions } from "./revision.js";
import { wireMessage } from "./wire.js";

/** @typedef {import("./host.js").Message} Message */
/** @typedef {import("./connection.js").Connection} Connection */
/** @typedef {import("./revision.js").Revisions} Revisions */
/** @typedef {import("./process.js").RpcError} RpcError */

const PIECE_BYTES = 8 << 20;
const BYTES_PER_MS = 500; // slowest that a binary may store a piece before it counts as hung

/** @typedef {{messages: Message[], revs: Revisions}} Snapshot a list of the host at one step, before anything is changed in it */

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
    /** @type {{generation: number, revs: Revisions} | null} */
    this.held = null;
    /** of the last snapshot */
    this.seen = revisions([]);
    /** @type {{generation: number, revs: Revisions, sent: Promise<unknown>} | null} sent before its list was walked */
    this.ahead = null;
    /** @type {Set<string>} messages that events named since the last sync */
    this.edited = new Set();
  }

  /**
   * Sends what stands behind the last list, before anything else of this one is
   * looked at: to walk over a long list takes as long as the binary needs to store
   * what is new. If it turns out that more has changed, push sends that too.
   * @param {Message[]} messages
   */
  sendAhead(messages) {
    const revs = this.#upToDate() ? this.seen.guess(messages) : null;
    if (revs) this.#sendAhead({ messages, revs });
  }

  /**
   * Sends a message that the host told of, and that its next list will have behind the
   * last one. What it has instead is sent then.
   * @param {Message} message
   * @returns {boolean} whether it was sent
   */
  sendBehind(message) {
    const { seen } = this;
    if (!this.#upToDate() || seen.count === 0 || seen.place(message.info.id) >= 0) return false;
    for (const id of this.edited) if (seen.place(id) >= 0) return false; // those before it have to be sent too
    const revs = seen.plus(message);
    const messages = Object.assign([], { [seen.count]: message }); // those before it are there
    if (revs) this.#sendAhead({ messages, revs });
    return revs !== null;
  }

  /** Whether the binary has the last list, and nothing is on the way. */
  #upToDate() {
    const { held, seen } = this;
    return !this.ahead && held?.revs === seen && held.generation === this.connection.generation;
  }

  /** @param {Snapshot} list */
  #sendAhead(list) {
    const { revs } = list;
    const ahead = { generation: this.connection.generation, revs, sent: this.push(list) };
    this.seen = revs;
    this.ahead = ahead;
    const over = () => {
      if (this.ahead === ahead) this.ahead = null;
    };
    ahead.sent.then(over, over);
  }

  /**
   * @param {Message[]} messages
   * @returns {Snapshot}
   */
  snapshot(messages) {
    this.seen = this.seen.of(messages);
    return { messages: [...messages], revs: this.seen };
  }

  /**
   * Sends what the binary lacks, all at once; what is sent next is answered with
   * the list as it is now. Kept when everything is stored, broken with a resync
   * when the binary turns out to hold another list.
   * @param {Snapshot} list
   * @returns {Promise<unknown>}
   */
  push(list) {
    const { revs } = list;
    const known = this.ahead ?? this.held; // by the time that the binary reads what is sent now
    const held = known?.generation === this.connection.generation ? known : null;
    const keep = this.#unchanged(list, held);
    if (held && keep === revs.count && keep === held.revs.count) return this.ahead?.sent ?? Promise.resolve();
    let at = keep;
    const replies = intoPieces(list.messages.slice(keep)).map((piece, i, { length }) => {
      const base = at === keep && held ? held.revs.at() : revs.at(at);
      const reply = this.#send(piece, { base, keep: at, check: revs.at(at), more: i < length - 1 });
      at += piece.texts.length;
      return reply;
    });
    return this.#settled(list, Promise.all(replies));
  }

  /**
   * Starts again from where the binary says that its list and ours part, one
   * piece after another, and returns its name for the list.
   * @param {Snapshot} list
   * @param {RpcError} resync
   * @returns {Promise<string>}
   */
  async settle(list, resync) {
    const { revs, messages } = list;
    const { keep: place, check: named } = /** @type {{keep: number, check: string}} */ (resync.data);
    const agrees = place <= revs.count && revs.at(place) === named;
    let at = agrees ? Math.min(place, this.#unchanged(list, null)) : 0;
    let base = agrees ? named : revs.at(0);
    let check = revs.at(at);
    const pieces = intoPieces(messages.slice(at));
    const sending = async () => {
      for (const [i, piece] of pieces.entries()) {
        base = check = await this.#send(piece, { base, keep: at, check, more: i < pieces.length - 1 });
        at += piece.texts.length;
      }
      return [base];
    };
    await this.#settled(list, sending());
    return base;
  }

  /**
   * @param {Snapshot} list
   * @param {Promise<string[]>} sending ends with the binary's name for the list
   */
  async #settled({ revs }, sending) {
    const { generation } = this.connection;
    const edited = this.edited;
    this.edited = new Set(); // what is edited from now on is not in this list
    this.held = null;
    try {
      const names = await sending;
      if (names.at(-1) === revs.at()) this.held = { generation, revs };
    } catch (error) {
      for (const id of edited) this.edited.add(id);
      throw error;
    }
  }

  /**
   * How many leading messages the binary has as they are now. A process that was
   * never told about the session is taken to know all of it from its store.
   * @param {Snapshot} list
   * @param {{revs: Revisions} | null} held
   */
  #unchanged({ revs }, held) {
    const same = held ? revs.common(held.revs) : revs.count;
    for (let i = 0; i < same && this.edited.size > 0; i++) if (this.edited.has(revs.id(i))) return i;
    return same;
  }

  /**
   * @param {Piece} piece
   * @param {{base: string, keep: number, check: string, more: boolean}} place
   * @returns {Promise<string>} the binary's name for the list so far
   */
  async #send({ texts, bytes }, { base, keep, check, more }) {
    const params =
      `{"sessionID":${JSON.stringify(this.sessionID)},` +
      (this.parent ? `"parent":${JSON.stringify(this.parent)},` : "") +
      `"base":"${base}","keep":${keep},"check":"${check}","messages":[${texts.join(",")}],"more":${more}}`;
    const ms = this.connection.timing.sync + bytes / BYTES_PER_MS;
    return String((await this.connection.request("session/sync", params, ms))?.rev);
  }
}

/** @typedef {{texts: string[], bytes: number}} Piece messages as JSON texts, and their size */

/**
 * @param {Message[]} messages
 * @returns {Piece[]} at least one
 */
function intoPieces(messages) {
  /** @type {Piece[]} */
  const pieces = [{ texts: [], bytes: 0 }];
  for (const text of messages.map(wireMessage)) {
    const bytes = Buffer.byteLength(text);
    let piece = pieces[pieces.length - 1];
    if (piece.bytes > 0 && piece.bytes + bytes > PIECE_BYTES) pieces.push((piece = { texts: [], bytes: 0 }));
    piece.texts.push(text);
    piece.bytes += bytes;
  }
  return pieces;
}
