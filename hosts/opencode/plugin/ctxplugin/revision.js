/**
 * The revision of a message list: a rolling hash over ids, part states and
 * lengths that the binary computes too. docs/protocol.md states the formula.
 *
 * It is taken over the whole session at every step, so it never serialises
 * anything: ids are mixed unit by unit, texts count by their length.
 */

/** @typedef {import("./host.js").Message} Message */
/** @typedef {import("./host.js").Part} Part */

const STATES = new Map([
  ["pending", 1],
  ["running", 2],
  ["completed", 3],
  ["error", 4],
]);

/**
 * The revisions of every prefix of a list. Entry k is the state of the hash
 * after k messages, so entry 0 is the empty list.
 */
export class Revisions {
  /** @param {number} count */
  constructor(count) {
    this.count = count;
    /** @readonly */ this.a = new Int32Array(count + 1);
    /** @readonly */ this.b = new Int32Array(count + 1);
  }

  /**
   * The form on the wire of the first k messages.
   * @param {number} [k]
   */
  at(k = this.count) {
    return `${k}.${hex(this.a[k])}${hex(this.b[k])}`;
  }

  /**
   * How many leading messages two lists have in common.
   * @param {Revisions} other
   */
  common(other) {
    const most = Math.min(this.count, other.count);
    let k = 0;
    while (k < most && this.a[k + 1] === other.a[k + 1] && this.b[k + 1] === other.b[k + 1]) k++;
    return k;
  }
}

/**
 * @param {Message[]} messages
 * @returns {Revisions}
 */
export function revisions(messages) {
  const out = new Revisions(messages.length);
  let a = 0x811c9dc5 | 0;
  let b = 0x9747b28c | 0;
  /** @param {number} x */
  const mix = (x) => {
    a = Math.imul(a ^ x, 0x01000193);
    b = Math.imul(b ^ x, 0x85ebca77);
    b ^= b >>> 13;
  };
  out.a[0] = a;
  out.b[0] = b;
  for (let i = 0; i < messages.length; i++) {
    const { info, parts } = messages[i];
    const id = info.id ?? "";
    for (let j = 0; j < id.length; j++) mix(id.charCodeAt(j));
    mix(0x110000 + parts.length);
    for (const part of parts) {
      mix(partState(part));
      mix(partUnits(part));
    }
    out.a[i + 1] = a;
    out.b[i + 1] = b;
  }
  return out;
}

/**
 * 0 for a part that is no tool part, 1 pending, 2 running, 3 completed, 4 error.
 * @param {Part} part
 */
function partState(part) {
  if (part.type !== "tool") return 0;
  return STATES.get(part.state?.status) ?? 1;
}

/**
 * UTF-16 units of what a part says.
 * @param {Part} part
 */
function partUnits(part) {
  if (part.type !== "tool") {
    const text = /** @type {{text?: unknown}} */ (part).text;
    return typeof text === "string" ? text.length : 0;
  }
  const state = part.state;
  if (state?.status === "completed") return units(state.output);
  if (state?.status === "error") return units(state.error);
  return 0;
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
