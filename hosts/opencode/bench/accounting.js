/**
 * What a session costs by its requests alone, and where their beginnings
 * changed. All figures are bytes of the canonical request: tools, system text,
 * then messages in order, without cache marks. Prices are relative to a byte of
 * fresh input.
 */
import { createHash } from "node:crypto";

/** @typedef {import("../e2e/provider.js").Block} Block */

export const READ_PRICE = 0.1;
export const WRITE_PRICE = 1.25;
export const SIDE_PRICE = 1;
export const OUTPUT_PRICE = 5;
export const BYTES_PER_TOKEN = 4.5;
const LOOK_BACK_BLOCKS = 20;

/**
 * @typedef {object} Charge one main request
 * @property {number} bytes
 * @property {number} shared bytes of the longest prefix that the main request before had as well
 * @property {number} read bytes that a provider reads which writes entries at marks only
 * @property {boolean} changed whether the request before is no prefix of this one
 */

/** The main requests of one session, in their order. */
export class Account {
  constructor() {
    this.before = Buffer.alloc(0);
    /** @type {Set<string>} */
    this.entries = new Set();
    /** @type {Charge[]} */
    this.charges = [];
    this.side = 0;
    this.sideRequests = 0;
  }

  /**
   * @param {Block[]} blocks
   * @returns {Charge}
   */
  main(blocks) {
    const request = canonical(blocks);
    const shared = commonPrefix(this.before, request);
    const changed = shared < this.before.length;
    this.before = request;
    const charge = { bytes: request.length, shared, read: this.#read(blocks), changed };
    this.charges.push(charge);
    return charge;
  }

  /** @param {Block[]} blocks a summary, a title or the like */
  aside(blocks) {
    this.side += canonical(blocks).length;
    this.sideRequests++;
  }

  /** Cost by the longest common prefix. */
  get prefixCost() {
    return sum(this.charges.map(({ bytes, shared }) => cost(bytes, shared))) + SIDE_PRICE * this.side;
  }

  /** Cost by cache marks. */
  get markCost() {
    return sum(this.charges.map(({ bytes, read }) => cost(bytes, read))) + SIDE_PRICE * this.side;
  }

  /** @param {Block[]} blocks */
  #read(blocks) {
    const hash = createHash("sha256");
    let total = 0;
    const ends = blocks.map(({ text }) => {
      const bytes = Buffer.byteLength(text);
      hash.update(`${bytes}:${text}`);
      total += bytes;
      return { key: hash.copy().digest("base64"), bytes: total };
    });
    let read = 0;
    blocks.forEach(({ marked }, i) => {
      if (!marked) return;
      for (let j = i; j >= Math.max(0, i - LOOK_BACK_BLOCKS); j--) {
        if (!this.entries.has(ends[j].key)) continue;
        read = Math.max(read, ends[j].bytes);
        break;
      }
    });
    blocks.forEach(({ marked }, i) => marked && this.entries.add(ends[i].key));
    return read;
  }
}

/**
 * @param {number} bytes
 * @param {number} cached
 */
function cost(bytes, cached) {
  return READ_PRICE * cached + WRITE_PRICE * (bytes - cached);
}

/** @param {Block[]} blocks */
function canonical(blocks) {
  return Buffer.from(blocks.map(({ text }) => text).join(""));
}

/**
 * @param {Buffer} a
 * @param {Buffer} b
 */
function commonPrefix(a, b) {
  const most = Math.min(a.length, b.length);
  let [low, high] = [0, most];
  // Equal to `low`, perhaps further: halving compares long runs at native speed.
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (a.compare(b, low, middle, low, middle) === 0) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** @param {number[]} numbers */
export function sum(numbers) {
  return numbers.reduce((x, y) => x + y, 0);
}

/**
 * @param {number[]} numbers sorted
 * @param {number} share 0 to 1
 */
export function quantile(numbers, share) {
  return numbers.length === 0
    ? NaN
    : numbers[Math.min(numbers.length - 1, Math.floor(numbers.length * share))];
}
