/**
 * Loaded before the shim: notes when its hook begins, and where its time goes.
 *
 * While the shim waits for the binary the host's event loop does the host's own
 * work, and until it comes around no answer can be read. A timer that is due
 * every millisecond shows how long it was held: by that work, or because other
 * programs had the processor.
 */
import { subscribe } from "node:diagnostics_channel";

const LOOK_MS = 1;

class Hook {
  constructor() {
    this.started = performance.now();
    this.begun = 0;
    this.asked = 0;
    this.heard = 0;
    this.done = 0;
    this.held = 0;
    this.turns = 0;
    this.looked = 0;
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.looking = undefined;
  }

  /** @param {unknown} at */
  reached(at) {
    if (at === "begun") this.begun ||= performance.now();
    else if (at === "done") this.done = performance.now();
    else if (at === "asked") {
      this.asked = this.looked = performance.now();
      this.looking ??= setInterval(() => this.look(), LOOK_MS);
    } else if (this.asked > 0 && this.done === 0) {
      this.look();
      this.heard = this.looked;
    }
  }

  /** The event loop has come around. */
  look() {
    const now = performance.now();
    const late = now - this.looked - LOOK_MS;
    if (late > LOOK_MS) this.held += late;
    if (late > LOOK_MS || this.turns === 0) this.turns++;
    this.looked = now;
  }

  /** @returns {Record<string, number>} */
  end() {
    clearInterval(this.looking);
    hooks.delete(this);
    const now = performance.now();
    const ms = now - this.started;
    if (this.heard === 0 || this.done === 0)
      return { ms, begun: 0, ask: ms, wait: 0, held: 0, turns: 0, apply: 0 };
    const { started, begun, asked, heard, done, held, turns } = this;
    return {
      ms,
      begun: begun - started,
      ask: asked - begun,
      wait: heard - asked,
      held,
      turns,
      apply: done - heard,
    };
  }
}

/** @type {Set<Hook>} those under way */
const hooks = new Set();
subscribe("ctxplugin:step", (at) => hooks.forEach((hook) => hook.reached(at)));

export default async () => ({
  "experimental.chat.messages.transform": async (
    /** @type {object} */ _,
    /** @type {any} */ { messages },
  ) => {
    const hook = new Hook();
    hooks.add(hook);
    Object.defineProperty(messages, "hook", { value: hook, configurable: true, enumerable: false });
  },
});
