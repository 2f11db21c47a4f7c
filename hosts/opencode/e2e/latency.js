/**
 * What `plugins/before.js` and `plugins/after.js` wrote down of each hook.
 */
import { existsSync, readFileSync } from "node:fs";

/**
 * @typedef {object} Latency ms of one hook
 * @property {number} ms all of it, as the host's plugins before and behind the shim see it
 * @property {number} begun until the host called the shim
 * @property {number} ask from then until the shim's questions were written
 * @property {number} wait from then until the answer was read
 * @property {number} held of that, when the host's event loop did not come around
 * @property {number} turns how often it held and came around until the answer was read
 * @property {number} apply from the answer until the shim was done
 */

/**
 * @param {string} path
 * @returns {Latency[]} in the order of the hooks' ends; none if there is no file
 */
export function readLatencies(path) {
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

/**
 * What a hook took of the time that the host's event loop had for it.
 * @param {Latency} latency
 */
export function own({ ask, wait, held, apply }) {
  return ask + wait - held + apply;
}
