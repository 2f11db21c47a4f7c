/**
 * The plugin as the host opens it, over a stand-in for the binary.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "node:test";
import { fileURLToPath } from "node:url";
import { createPlugin } from "../plugin/ctxplugin/plugin.js";
import { MODEL, SESSION } from "./examples.js";

export const FAKE = fileURLToPath(new URL("fakebinary.mjs", import.meta.url));

/** One test's plugins, their folder, and what they told the user. */
export class Rig {
  folder = "";
  /** @type {any[]} */
  opened = [];
  /** @type {string[]} */
  told = [];

  constructor() {
    beforeEach(() => {
      this.folder = mkdtempSync(join(tmpdir(), "ctxplugin-hooks-"));
      this.opened = [];
      this.told = [];
      process.env.XDG_STATE_HOME = this.folder;
      process.env.FAKE_LOG = join(this.folder, "log");
      process.env.FAKE_HEAD = "What came before.";
      process.env.FAKE_MODE = "";
      process.env.FAKE_STANDING = "";
      process.env.CTXPLUGIN_PATIENCE = "20";
    });
    afterEach(async () => {
      for (const hooks of this.opened) await hooks.dispose();
      rmSync(this.folder, { recursive: true, force: true });
    });
  }

  /**
   * @param {string} [mode]
   * @param {{binary?: string, context?: number}} [how]
   * @returns {Promise<any>}
   */
  async open(mode = "", { binary = FAKE, context = 100_000 } = {}) {
    process.env.FAKE_MODE = mode;
    const model = {
      id: MODEL.modelID,
      providerID: MODEL.providerID,
      api: { npm: "@ai-sdk/anthropic" },
      cost: { input: 3, output: 15, cache: { read: 0.3, write: 3.75 } },
      limit: { context, output: 1000 },
    };
    const client = {
      app: { log: async (/** @type {any} */ { body }) => this.told.push(body.message) },
      tui: { showToast: async () => {} },
      config: { providers: async () => ({ data: { providers: [{ models: { m: model } }] } }) },
      tool: {
        list: async () => ({
          data: [{ id: "bash", description: "12345", parameters: { type: "object", a: 1 } }],
        }),
      },
      session: { get: async () => ({ data: { parentID: "ses_parent" } }) },
    };
    const hooks = /** @type {any} */ (
      await createPlugin(binary)(/** @type {any} */ ({ client, directory: this.folder }))
    );
    this.opened.push(hooks);
    await hooks.config({ plugin: ["one"] });
    return Object.assign(hooks, {
      model,
      /** @param {any[]} messages */
      transform: (messages) => hooks["experimental.chat.messages.transform"]({}, { messages }),
      /** @param {string[]} system */
      request: async (system, agent = "build") => {
        await hooks["experimental.chat.system.transform"]({ sessionID: SESSION, model }, { system });
        const output = { maxOutputTokens: 1000, options: {} };
        await hooks["chat.params"]({ sessionID: SESSION, agent, model, message: {} }, output);
        return output;
      },
    });
  }

  /** What the binary was asked, by method. */
  asked(method = "") {
    const lines = readFileSync(join(this.folder, "log"), "utf8").trimEnd().split("\n");
    return lines.map((line) => JSON.parse(line)).filter((frame) => !method || frame.method === method);
  }
}
