/**
 * The bench "cost and view": one seeded workload, played in the real host by
 * each contender in turn. `--help` names the options.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { exported } from "./export.js";
import { playFast } from "./fast.js";
import { Measure } from "./measure.js";
import { play } from "./play.js";
import { missed, table } from "./report.js";
import { workload } from "./workload.js";

/** @typedef {import("./play.js").Contender} Contender */
/** @typedef {import("./report.js").Results} Results */

const HELP = `npm run bench -- [options]

  --window LIST     context windows in tokens (60000,200000)
  --contender LIST  of ours, host, truncation (all); echo is the host with a hook that only asks another process
  --turns N         turns of the workload (150)
  --seed N          of the workload (1)
  --binary FILE     the ctxplugin binary, instead of building it
  --fast            without the host, its compaction played by rule: a minute for each contender
  --against FILE    take the contenders that do not play from what --json wrote of the same workload
  --json FILE       write all figures, request by request
  --export FILE     write the workload as a session file for ctxplugin replay, and play nothing
  --no-check        report only, whatever the figures are
`;
const CONTENDERS = ["ours", "host", "truncation"];
const KNOWN = [...CONTENDERS, "echo"];
const SLOTS = 10;
const MODULE = fileURLToPath(new URL("../../..", import.meta.url));

process.exitCode = await main();

/** @returns {Promise<number>} the exit code */
async function main() {
  const options = /** @type {const} */ ({
    window: { type: "string", default: "60000,200000" },
    contender: { type: "string", default: CONTENDERS.join() },
    turns: { type: "string", default: "150" },
    seed: { type: "string", default: "1" },
    binary: { type: "string" },
    json: { type: "string" },
    fast: { type: "boolean" },
    against: { type: "string" },
    export: { type: "string" },
    "no-check": { type: "boolean" },
    help: { type: "boolean" },
  });
  const { values } = parseArgs({ options });
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const [turns, seed] = [whole("turns", values.turns), whole("seed", values.seed)];
  const windows = values.window.split(",").map((one) => whole("window", one));
  const contenders = values.contender.split(",").map((name) => {
    if (!KNOWN.includes(name)) throw new Error(`--contender: ${name} is none of ${KNOWN.join(", ")}`);
    return /** @type {Contender} */ (name);
  });

  const earlier = values.against ? JSON.parse(readFileSync(values.against, "utf8")) : undefined;
  if (earlier && (earlier.seed !== seed || earlier.turns !== turns)) {
    throw new Error(`--against: ${values.against} has seed ${earlier.seed} and ${earlier.turns} turns`);
  }

  const slot = takeSlot();
  process.once("exit", () => rmSync(slot, { recursive: true, force: true, maxRetries: 5 }));
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
  const root = join(slot, "run");
  const work = workload({ seed, turns, project: join(root, "project") });
  if (values.export) {
    writeFileSync(values.export, JSON.stringify(exported(work, join(root, "project"))));
    return 0;
  }
  const binary = values.binary ?? build(join(slot, "ctxplugin"));

  /** @type {Record<number, Results>} */
  const all = {};
  for (const window of windows) {
    all[window] = {};
    for (const contender of contenders) {
      const started = Date.now();
      const measure = new Measure(work, window);
      const turn = (/** @type {number} */ i) => {
        measure.turn(i);
        if (i % 10 === 0)
          console.error(`${window} ${contender}: turn ${i + 1} of ${turns}, ${seconds(started)} s`);
      };
      const played = await (values.fast ? playFast : play)(
        { contender, window, root, binary, workload: work },
        { turn, aside: (request) => measure.aside(request), request: (request) => measure.request(request) },
      );
      all[window][contender] = measure.result(played);
      console.error(`${window} ${contender}: done, ${seconds(started)} s`);
      if (values.json) writeFileSync(values.json, JSON.stringify({ seed, turns, windows: all }));
    }
    all[window] = { ...all[window], ...others(earlier?.windows[window], all[window]) };
    console.log(`${table(window, all[window])}\n`);
  }
  const lines = windows.flatMap((window) => missed(window, all[window]));
  for (const line of lines) console.log(`missed: ${line}`);
  return lines.length > 0 && !values["no-check"] ? 1 : 0;
}

/**
 * @param {Results | undefined} earlier
 * @param {Results} played
 * @returns {Results} of the earlier ones those that did not play now
 */
function others(earlier, played) {
  return Object.fromEntries(Object.entries(earlier ?? {}).filter(([name]) => !(name in played)));
}

/**
 * A folder of this run. Its name is as long in every run, and the same while no
 * other bench runs, for paths are part of what models read.
 */
function takeSlot() {
  for (let i = 0; i < SLOTS; i++) {
    const path = join(tmpdir(), `ctxplugin-bench-${i}`);
    try {
      mkdirSync(path);
      return path;
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== "EEXIST") throw error;
    }
  }
  throw new Error(`remove ${join(tmpdir(), "ctxplugin-bench-*")}: what killed runs have left`);
}

/** @param {string} path */
function build(path) {
  execFileSync("go", ["build", "-o", path, "./cmd/ctxplugin"], { cwd: MODULE, stdio: "inherit" });
  return path;
}

/**
 * @param {string} name
 * @param {string} text
 */
function whole(name, text) {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1)
    throw new Error(`--${name}: ${text} is no whole number above 0`);
  return number;
}

/** @param {number} since */
function seconds(since) {
  return Math.round((Date.now() - since) / 1000);
}
