/** Seeded randomness: the same seed gives the same workload on every machine. */
export class Random {
  /** @param {number} seed */
  constructor(seed) {
    this.state = seed >>> 0;
  }

  /** @returns {number} from 0, below 1 */
  next() {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let x = this.state;
    x = Math.imul(x ^ (x >>> 15), x | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  }

  /**
   * @param {number} low
   * @param {number} high included
   */
  between(low, high) {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  /**
   * @template T
   * @param {readonly T[]} list
   * @returns {T}
   */
  pick(list) {
    return list[this.between(0, list.length - 1)];
  }

  /** @param {number} digits */
  hex(digits) {
    return Array.from({ length: digits }, () => this.between(0, 15).toString(16)).join("");
  }

  /**
   * @template T
   * @param {readonly T[]} list
   * @returns {T[]}
   */
  shuffled(list) {
    const copy = [...list];
    for (let i = copy.length - 1; i > 0; i--) {
      const j = this.between(0, i);
      [copy[i], copy[j]] = [copy[j], copy[i]];
    }
    return copy;
  }
}
