/**
 * What the built-in generator would have cost if a model had done its work:
 * estimated from outside, for the model would read each covered message once and
 * write four tiers of each compartment. Sizes of tiers are those of the entries
 * that requests showed; a tier that no request showed of a compartment is taken
 * to be as long as others of its kind.
 */

/** @typedef {import("./view.js").Entry} Entry */

const TIERS = ["full", "dense", "compact", "anchor"];

export class Historian {
  constructor() {
    /** @type {Map<string, Map<string, number>>} bytes by range and tier */
    this.seen = new Map();
  }

  /** @param {Entry[]} entries */
  see(entries) {
    for (const { range, tier, bytes } of entries) {
      if (!TIERS.includes(tier)) continue;
      const tiers = this.seen.get(range) ?? new Map();
      this.seen.set(range, tiers.set(tier, bytes));
    }
  }

  /**
   * @param {any[]} messages of the session
   * @param {any} status of the plugin
   * @returns {{input: number, output: number}} bytes
   */
  bytes(messages, status) {
    const through = Math.max(0, ...(status?.folds ?? []).map((/** @type {any} */ fold) => fold.through));
    let input = 0;
    for (const { parts } of messages.slice(0, through)) {
      for (const { text, state } of parts) {
        const pieces = [text, state?.input && JSON.stringify(state.input), state?.output, state?.error];
        for (const piece of pieces) input += Buffer.byteLength(piece ?? "");
      }
    }
    let output = 0;
    for (const tier of TIERS) {
      const sizes = [...this.seen.values()].flatMap((tiers) => tiers.get(tier) ?? []);
      const mean = sizes.length > 0 ? sizes.reduce((x, y) => x + y, 0) / sizes.length : 0;
      output += mean * this.seen.size;
    }
    return { input, output: Math.round(output) };
  }
}
