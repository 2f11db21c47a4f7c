/**
 * For which requests the binary's answer is known before it is asked: it said so of a
 * list, and as long as the list has only grown by as much as it allowed, the plan that
 * came with that is the answer. docs/protocol.md states the rule.
 */
import { isRealUser, messageBytes } from "./fit.js";

/** @typedef {import("./host.js").Message} Message */
/** @typedef {import("./revision.js").Revisions} Revisions */

/** @typedef {{rev: string, inside: number, next: number, until: number}} Said as it is on the wire */
/** @typedef {{sessionID?: unknown, planID?: unknown, plan?: unknown, standing?: unknown, forgotten?: unknown}} News params of host/plan, as they came */

/**
 * @typedef {object} Circumstances what a request is made in, besides its list
 * @property {number} generation of the connection
 * @property {string} model with its agent and limits
 * @property {number} fixedBytes of system text and tool definitions
 * @property {number} now ms of the host's clock
 */

/**
 * Whether a value from outside has the shape of what is said of a list.
 * @param {any} value
 * @returns {value is Said}
 */
export function isStanding(value) {
  return typeof value?.rev === "string" && [value.inside, value.next, value.until].every(Number.isFinite);
}

export class Standing {
  /**
   * @param {string} planID
   * @param {Said} said
   * @param {Revisions} revs of the list that it was said of
   * @param {Circumstances} then
   */
  constructor(planID, said, revs, then) {
    this.planID = planID;
    this.said = said;
    this.revs = revs;
    this.then = then;
  }

  /**
   * Whether the answer for a list is known.
   * @param {Message[]} messages
   * @param {Revisions} revs of them
   * @param {Circumstances} here
   */
  covers(messages, revs, here) {
    const { then, said } = this;
    if (here.generation !== then.generation || here.model !== then.model) return false;
    if (here.now < then.now || here.now >= said.until) return false;
    if (revs.common(this.revs) < this.revs.count) return false;
    let grown = Math.max(0, here.fixedBytes - then.fixedBytes);
    let most = said.inside;
    for (let i = this.revs.count; i < messages.length; i++) {
      grown += messageBytes(messages[i]);
      if (isRealUser(messages[i])) most = said.next;
    }
    return grown <= most;
  }
}
