/**
 * What the user is told, through the host's own channels and never through the
 * conversation: a line in the log, and a toast for what needs attention.
 */

/** @typedef {import("./host.js").PluginInput} PluginInput */
/** @typedef {"debug" | "info" | "warning" | "error"} Level */

const REMEMBERED = 200;
const TOAST_LENGTH = 300; // the log has the rest

export class Notices {
  /** @param {PluginInput["client"]} client */
  constructor(client) {
    this.client = client;
    /** @type {Set<string>} */
    this.told = new Set();
  }

  /**
   * Tells each text once.
   * @param {string} level
   * @param {string} text
   */
  tell(level, text) {
    if (this.told.has(text) || this.told.size >= REMEMBERED) return;
    this.told.add(text);
    const logged = level === "warning" ? "warn" : level === "error" || level === "debug" ? level : "info";
    quietly(() => this.client.app.log({ body: { service: "ctxplugin", level: logged, message: text } }));
    if (logged !== "warn" && logged !== "error") return;
    const variant = logged === "warn" ? "warning" : "error";
    const message = text.split("\n", 1)[0].slice(0, TOAST_LENGTH);
    quietly(() => this.client.tui.showToast({ body: { title: "ctxplugin", message, variant } }));
  }
}

/** @param {() => Promise<unknown>} call */
function quietly(call) {
  try {
    call().catch(() => {});
  } catch {
    // a host without this channel
  }
}
