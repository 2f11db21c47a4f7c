/**
 * The revision of a message list: a rolling hash over ids, part states and
 * lengths that the binary computes too. docs/protocol.md states the formula.
 *
 * It is taken over the whole session at every step, so it never serialises
 * anything: ids are mixed unit by unit, texts count by their length. And since a
 * list mostly is the one of the step before with something behind it, what is
 * hashed is kept, and only what differs from it is hashed anew.
 */
import { infoMark } from "./wire.js";

/** @typedef {import("./host.js").Message} Message */
/** @typedef {import("./host.js").Part} Part */

const STATE_RANGE = 8; // a part's print is its units times this, and its state
const LEAST_ROOM = 64;
const LOOKED_AT = 8; // last messages of a list, for a guess: what changes is mostly there

/**
 * What was found of a list, message by message. It only ever grows, so several
 * lists that begin alike share one: each looks at no more than it has itself.
 */
class Columns {
  /** @param {number} room for messages, to begin with */
  constructor(room) {
    /** @type {string[]} */
    this.ids = [];
    /** what messages say outside their parts */
    this.marks = new Float64Array(room);
    /** where in `prints` those of each message end */
    this.ends = new Int32Array(room);
    /** of all parts */
    this.prints = new Float64Array(2 * room);
    /** states of the hash: entry k is the one after k messages, entry 0 that of the empty list */
    this.a = new Int32Array(room + 1);
    this.b = new Int32Array(room + 1);
    this.a[0] = 0x811c9dc5;
    this.b[0] = 0x9747b28c;
  }

  /**
   * The same for another list, which has only the first messages in common.
   * @param {number} count
   */
  copy(count) {
    const other = new Columns(Math.max(LEAST_ROOM, 2 * count));
    other.ids = this.ids.slice(0, count);
    other.marks.set(this.marks.subarray(0, count));
    other.ends.set(this.ends.subarray(0, count));
    const prints = this.prints.subarray(0, this.start(count));
    other.prints = larger(other.prints, prints.length);
    other.prints.set(prints);
    other.a.set(this.a.subarray(0, count + 1));
    other.b.set(this.b.subarray(0, count + 1));
    return other;
  }

  /**
   * Where the prints of message i start.
   * @param {number} i
   */
  start(i) {
    return i > 0 ? this.ends[i - 1] : 0;
  }

  /** @param {Message} message */
  add(message) {
    const { info, parts } = message;
    const i = this.ids.length;
    const end = this.start(i) + parts.length;
    this.marks = larger(this.marks, i + 1);
    this.ends = larger(this.ends, i + 1);
    this.prints = larger(this.prints, end);
    this.a = larger(this.a, i + 2);
    this.b = larger(this.b, i + 2);
    let [a, b] = [this.a[i], this.b[i]];
    /** @param {number} x */
    const mix = (x) => {
      a = Math.imul(a ^ x, 0x01000193);
      b = Math.imul(b ^ x, 0x85ebca77);
      b ^= b >>> 13;
    };
    const id = info.id ?? "";
    for (let j = 0; j < id.length; j++) mix(id.charCodeAt(j));
    mix(0x110000 + parts.length);
    for (let j = 0; j < parts.length; j++) {
      const print = partPrint(parts[j]);
      mix(print % STATE_RANGE);
      mix(Math.floor(print / STATE_RANGE));
      this.prints[end - parts.length + j] = print;
    }
    this.ids.push(id);
    this.marks[i] = infoMark(message);
    this.ends[i] = end;
    this.a[i + 1] = a;
    this.b[i + 1] = b;
  }
}

/**
 * An array with room for so many, at least doubled if it grows: allocating one is
 * dearer than filling it.
 * @template {Int32Array | Float64Array} A
 * @param {A} array
 * @param {number} length
 * @returns {A}
 */
function larger(array, length) {
  if (length <= array.length) return array;
  const grown = new /** @type {any} */ (array.constructor)(Math.max(length, 2 * array.length));
  grown.set(array);
  return grown;
}

/** The revisions of every prefix of a list. They never change. */
export class Revisions {
  /**
   * @param {Columns} columns
   * @param {number} count of messages
   */
  constructor(columns, count) {
    this.columns = columns;
    this.count = count;
  }

  /**
   * The form on the wire of the first k messages.
   * @param {number} [k]
   */
  at(k = this.count) {
    return `${k}.${hex(this.columns.a[k])}${hex(this.columns.b[k])}`;
  }

  /**
   * The id of message i.
   * @param {number} i
   */
  id(i) {
    return this.columns.ids[i];
  }

  /**
   * The place of the last message with an id, -1 if there is none.
   * @param {string} id
   */
  place(id) {
    return this.count > 0 ? this.columns.ids.lastIndexOf(id, this.count - 1) : -1;
  }

  /**
   * How many leading messages two lists have in common, marks included.
   * @param {Revisions} other
   */
  common(other) {
    const most = Math.min(this.count, other.count);
    const [mine, its] = [this.columns, other.columns];
    if (mine === its) return most;
    let k = 0;
    while (
      k < most &&
      mine.a[k + 1] === its.a[k + 1] &&
      mine.b[k + 1] === its.b[k + 1] &&
      mine.marks[k] === its.marks[k]
    )
      k++;
    return k;
  }

  /**
   * How many leading messages of a list are as in this one, those before `from`
   * taken for the same.
   *
   * This is the one walk over all of a list at a step. The host hands out new
   * objects each time, so that a message is as it was shows in its values alone;
   * and reading them, out of cold memory, is what takes the time.
   * @param {Message[]} messages
   * @param {number} [from]
   */
  #same(messages, from = 0) {
    const { ids, marks, ends, prints } = this.columns;
    const most = Math.min(messages.length, this.count);
    let at = this.columns.start(from);
    for (let i = from; i < most; i++) {
      const message = messages[i];
      const { info, parts } = message;
      if (parts.length !== ends[i] - at || (info.id ?? "") !== ids[i]) return i;
      for (let j = 0; j < parts.length; j++) {
        if (partPrint(parts[j]) !== prints[at++]) return i;
      }
      if (infoMark(message) !== marks[i]) return i;
    }
    return most;
  }

  /**
   * What a longer list's revisions are if it begins as this one does, of which only
   * the end is looked at; null where they are not that. `of` of the answer makes
   * sure.
   * @param {Message[]} messages
   * @returns {Revisions | null}
   */
  guess(messages) {
    const { columns, count } = this;
    if (count === 0 || messages.length <= count || columns.ids.length !== count) return null;
    if (this.#same(messages, Math.max(0, count - LOOKED_AT)) !== count) return null;
    for (let i = count; i < messages.length; i++) columns.add(messages[i]);
    return new Revisions(columns, messages.length);
  }

  /**
   * What the revisions are with one message more; null where another list begins as
   * this one does already.
   * @param {Message} message
   * @returns {Revisions | null}
   */
  plus(message) {
    const { columns, count } = this;
    if (columns.ids.length !== count) return null;
    columns.add(message);
    return new Revisions(columns, count + 1);
  }

  /**
   * The revisions of another list of the same session, made from these as far as
   * the two are the same.
   * @param {Message[]} messages
   * @returns {Revisions}
   */
  of(messages) {
    const same = this.#same(messages);
    if (same === messages.length) return same === this.count ? this : new Revisions(this.columns, same);
    const columns = same < this.columns.ids.length ? this.columns.copy(same) : this.columns;
    for (let i = same; i < messages.length; i++) columns.add(messages[i]);
    return new Revisions(columns, messages.length);
  }
}

/**
 * @param {Message[]} messages
 * @returns {Revisions}
 */
export function revisions(messages) {
  return new Revisions(new Columns(Math.max(LEAST_ROOM, 2 * messages.length)), 0).of(messages);
}

/**
 * What the revision sees of a part, in one number: the UTF-16 units of what it
 * says, and its state, which is 0 for a part that is no tool part, 1 pending, 2
 * running, 3 completed, 4 error.
 * @param {Part} part
 */
function partPrint(part) {
  if (part.type !== "tool") {
    const text = /** @type {{text?: unknown}} */ (part).text;
    return typeof text === "string" ? text.length * STATE_RANGE : 0;
  }
  const state = part.state;
  switch (state?.status) {
    case "completed":
      return units(state.output) * STATE_RANGE + 3;
    case "error":
      return units(state.error) * STATE_RANGE + 4;
    case "running":
      return 2;
    default:
      return 1;
  }
}

/** @param {unknown} value */
function units(value) {
  if (typeof value === "string") return value.length;
  if (value === undefined || value === null) return 0;
  return JSON.stringify(value).length;
}

/** @param {number} n */
function hex(n) {
  return (n >>> 0).toString(16).padStart(8, "0");
}
