/**
 * The real OpenCode, started as a server with a home of its own and driven over
 * HTTP. It reaches nothing but loopback.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const START_MS = 120_000;
const CALL_MS = 600_000; // a turn may have many steps

/** @returns {string} */
export function openCodeBinary() {
  const given = process.env.CTXPLUGIN_OPENCODE;
  if (given) return given;
  const require = createRequire(import.meta.url);
  const name = `opencode-${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const binary = process.platform === "win32" ? "opencode.exe" : "opencode";
  try {
    const path = join(dirname(require.resolve(`${name}/package.json`)), "bin", binary);
    if (existsSync(path)) return path;
  } catch {
    // reported below
  }
  throw new Error(`OpenCode is missing: run npm ci, or name its binary in CTXPLUGIN_OPENCODE (${name})`);
}

/** A home directory, a project and a configuration for one OpenCode. */
export class Place {
  /** @param {string} [root] an empty folder, for paths that are the same in every run */
  constructor(root = mkdtempSync(join(tmpdir(), "ctxplugin-e2e-"))) {
    this.root = root;
    this.home = join(this.root, "home");
    this.project = join(this.root, "project");
    this.config = join(this.home, ".config");
    for (const path of [this.project, join(this.config, "opencode")]) mkdirSync(path, { recursive: true });
  }

  /**
   * @param {string} baseURL of the mock provider
   * @param {{context: number, output: number}} limit
   * @param {string[]} plugin other plugins, loaded before those of the plugin folders
   * @param {object} more settings
   */
  configure(baseURL, limit, plugin = [], more = {}) {
    const options = { baseURL, apiKey: "none" };
    const cost = { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 };
    const models = {
      m: { name: "m", limit, cost, tool_call: true },
      // In truth its window is no wider than the other's.
      boastful: { name: "boastful", limit: { ...limit, context: 3 * limit.context }, cost, tool_call: true },
    };
    const config = {
      autoupdate: false,
      share: "disabled",
      plugin,
      model: "anthropic-mock/m",
      small_model: "anthropic-mock/m",
      permission: { "*": "allow" },
      provider: {
        "anthropic-mock": { npm: "@ai-sdk/anthropic", name: "A", options, models },
        "openai-mock": { npm: "@ai-sdk/openai-compatible", name: "O", options, models },
      },
      ...more,
    };
    writeFileSync(join(this.config, "opencode", "opencode.json"), JSON.stringify(config, null, 2));
  }

  /** @returns {Record<string, string>} */
  environment() {
    return {
      PATH: process.env.PATH ?? "",
      HOME: this.home,
      OPENCODE_TEST_HOME: this.home,
      XDG_CONFIG_HOME: this.config,
      XDG_DATA_HOME: join(this.home, ".local", "share"),
      XDG_STATE_HOME: join(this.home, ".local", "state"),
      XDG_CACHE_HOME: join(this.home, ".cache"),
      TMPDIR: this.root,
      CTXPLUGIN_PATIENCE: "10", // a busy machine is no reason to go without the binary
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
      npm_config_registry: "http://127.0.0.1:1/",
      npm_config_fetch_retries: "0",
      // Bun's own fetch honours these; nothing listens there.
      HTTP_PROXY: "http://127.0.0.1:1",
      HTTPS_PROXY: "http://127.0.0.1:1",
      NO_PROXY: "127.0.0.1,localhost",
    };
  }

  remove() {
    rmSync(this.root, { recursive: true, force: true });
  }
}

export class OpenCode {
  /**
   * @param {Place} place
   * @param {Record<string, string>} [environment]
   */
  constructor(place, environment = {}) {
    this.place = place;
    this.url = "";
    this.output = "";
    this.child = spawn(openCodeBinary(), ["serve", "--hostname", "127.0.0.1", "--port", "0"], {
      cwd: place.project,
      env: { ...place.environment(), ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.exited = new Promise((resolve) => this.child.once("exit", resolve));
    const kill = () => this.child.kill("SIGKILL");
    process.prependOnceListener("exit", kill); // before anyone removes its folder
    this.exited.then(() => process.off("exit", kill));
  }

  /**
   * @param {Place} place
   * @param {Record<string, string>} [environment]
   */
  static async start(place, environment) {
    const host = new OpenCode(place, environment);
    host.url = await host.#listening();
    await host.call("GET", "/config"); // the first request makes the instance, plugins included
    return host;
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {object} [body]
   * @returns {Promise<any>}
   */
  async call(method, path, body) {
    const response = await fetch(this.url + path, {
      method,
      headers: { "content-type": "application/json" },
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(CALL_MS),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 400)}`);
    return text ? JSON.parse(text) : undefined;
  }

  /**
   * @param {string} [directory]
   * @returns {Promise<string>} the session's id
   */
  async session(directory = this.place.project) {
    return (await this.call("POST", `/session?directory=${encodeURIComponent(directory)}`, {})).id;
  }

  /**
   * One turn, awaited to its end.
   * @param {string} session
   * @param {string} text
   * @param {{provider?: string, model?: string, directory?: string}} [how]
   */
  async turn(session, text, { provider = "anthropic-mock", model = "m", directory } = {}) {
    const folder = encodeURIComponent(directory ?? this.place.project);
    return this.call("POST", `/session/${session}/message?directory=${folder}`, {
      model: { providerID: provider, modelID: model },
      parts: [{ type: "text", text }],
    });
  }

  /** @param {NodeJS.Signals} [signal] */
  async stop(signal = "SIGTERM") {
    this.child.kill(signal);
    await this.exited;
  }

  log() {
    const path = join(this.place.home, ".local", "share", "opencode", "log", "opencode.log");
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  }

  /** @returns {Promise<string>} */
  #listening() {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`OpenCode did not start: ${this.output}`)), START_MS);
      const read = (/** @type {Buffer} */ chunk) => {
        this.output += chunk;
        const found = /http:\/\/127\.0\.0\.1:\d+/.exec(this.output);
        if (!found) return;
        clearTimeout(timer);
        resolve(found[0]);
      };
      this.child.stdout.on("data", read);
      this.child.stderr.on("data", read);
      this.exited.then(() => reject(new Error(`OpenCode exited: ${this.output}`)));
    });
  }
}
