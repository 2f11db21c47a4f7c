/** One contender plays the workload in the real host, against a provider on loopback. */
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { readLatencies } from "../e2e/latency.js";
import { OpenCode, Place } from "../e2e/opencode.js";
import { Provider } from "../e2e/provider.js";
import { writeFiles } from "./workload.js";

/** @typedef {import("../e2e/provider.js").Recorded} Recorded */
/** @typedef {import("../e2e/provider.js").Reply} Reply */
/** @typedef {import("./workload.js").Workload} Workload */

/** @typedef {"ours" | "host" | "truncation" | "echo"} Contender */

export const OUTPUT = 8_192;
const PLUGINS = fileURLToPath(new URL("./plugins/", import.meta.url));
const E2E_PLUGINS = fileURLToPath(new URL("../e2e/plugins/", import.meta.url));

/**
 * @typedef {object} Watcher told of everything while it happens
 * @property {(turn: number) => void} turn begins
 * @property {(request: Recorded) => Reply | undefined} aside an answer that no script has
 * @property {(request: Recorded) => void} request settled
 */

/**
 * @typedef {object} Played
 * @property {any[]} messages of the session at the end, as the host has them
 * @property {any} info of the session
 * @property {any} status of the plugin, if it ran
 * @property {import("../e2e/latency.js").Latency[]} latencies of the contender's hook
 * @property {string[]} errors of turns
 */

/**
 * @param {object} game
 * @param {Contender} game.contender
 * @param {number} game.window
 * @param {string} game.root an absent folder
 * @param {string} game.binary
 * @param {Workload} game.workload
 * @param {Watcher} watcher
 * @returns {Promise<Played>}
 */
export async function play({ contender, window, root, binary, workload }, watcher) {
  mkdirSync(root);
  const place = new Place(root);
  const provider = new Provider(window);
  provider.refusesForReply = false; // the host knows only a prompt that is too long by itself
  const fixed = join(root, "fixed-tokens");
  const latencies = join(root, "latencies");
  /** @type {OpenCode | undefined} */
  let host;
  try {
    const url = await provider.start();
    const own = (/** @type {string} */ name) => pathToFileURL(join(PLUGINS, name)).href;
    const plugins = [join(E2E_PLUGINS, "before.js")];
    /** @type {any[]} */
    const loaded = [...plugins];
    if (contender === "truncation") loaded.push([own("truncate.js"), { window, output: OUTPUT, fixed }]);
    if (contender === "echo") loaded.push(own("echo.js"));
    const more = contender === "truncation" ? { compaction: { auto: false, prune: false } } : {};
    place.configure(url, { context: window, output: OUTPUT }, loaded, {
      lsp: false,
      formatter: false,
      ...more,
    });
    writeFiles(place.project, workload.files);
    const folder = join(place.project, ".opencode", "plugin"); // loaded after the user's own
    mkdirSync(folder, { recursive: true });
    copyFileSync(join(E2E_PLUGINS, "after.js"), join(folder, "after.js"));
    const environment = place.environment();
    /** @param {string[]} args */
    const ctxplugin = (...args) =>
      execFileSync(binary, args, { env: environment, encoding: "utf8", maxBuffer: 2 ** 28 });
    if (contender === "ours") ctxplugin("install", "opencode");

    host = await OpenCode.start(place, { CTXPLUGIN_E2E_LATENCY: latencies });
    const session = await host.session();
    provider.aside = (request) => watcher.aside(request);
    provider.heard = (request) => {
      if (!existsSync(fixed) && !request.title) writeFileSync(fixed, String(fixedTokens(request)));
      watcher.request(request);
      // Bodies of a long session do not all fit the memory.
      Object.assign(request, { body: null, blocks: [] });
    };
    const errors = [];
    for (const [i, { ask, replies }] of workload.turns.entries()) {
      watcher.turn(i);
      provider.forgetScript(session);
      provider.say(session, replies.map(spoken));
      const answer = await host.turn(session, ask);
      if (answer.info.error) errors.push(`turn ${i + 1}: ${JSON.stringify(answer.info.error).slice(0, 300)}`);
    }
    return {
      info: await host.call("GET", `/session/${session}`),
      messages: await host.call("GET", `/session/${session}/message`),
      status: contender === "ours" ? JSON.parse(ctxplugin("status", "--json", session)) : undefined,
      latencies: readLatencies(latencies),
      errors,
    };
  } finally {
    await host?.stop();
    await provider.stop();
    if (process.env.CTXPLUGIN_E2E_KEEP) console.error(`kept ${root}`);
    else place.remove();
  }
}

/**
 * What the model says, without what the workload knows of the results.
 * @param {import("./workload.js").Reply} reply
 * @returns {Reply}
 */
function spoken({ text, calls }) {
  return { text, calls: calls?.map(({ name, input }) => ({ name, input })) };
}

/** @param {Recorded} request */
function fixedTokens({ body }) {
  return Math.ceil(Buffer.byteLength(JSON.stringify([body.system, body.tools])) / 4.5);
}
