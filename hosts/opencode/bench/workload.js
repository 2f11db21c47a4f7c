/**
 * The one script that all contenders play: what the user asks in each turn, and
 * what the model answers and calls, request by request. Sizes are steered while
 * the turns are made, so that the whole has the promised size and share of tool
 * output whatever the seed.
 */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { placed } from "./planted.js";
import {
  MODULES,
  functionLines,
  logText,
  projectFiles,
  prose,
  sentence,
  sourceText,
  testOutput,
} from "./project.js";
import { Random } from "./random.js";

/**
 * A call with what it will return, as far as it is known beforehand.
 * @typedef {import("../e2e/provider.js").Call & {output: string, exit?: number}} Call
 */
/** @typedef {{text?: string, calls?: Call[]}} Reply */
/** @typedef {import("./planted.js").Item} Item */

/**
 * @typedef {object} Turn
 * @property {string} ask
 * @property {Reply[]} replies one a request
 * @property {string} module
 */

/**
 * @typedef {object} Workload
 * @property {Turn[]} turns
 * @property {Map<string, string>} files paths relative to the project, and texts, at the start
 * @property {Map<number, Item[]>} places the planted items by turn
 * @property {{all: number, tools: number}} bytes of new text, and of it tool output, as planned
 */

export const BYTES_PER_TURN = 13_333;
const TOOL_SHARE = 0.6;

/** How many of 150 turns have that many requests: 380 requests in all. */
const REQUESTS = [0, 30, 45, 40, 35];

const MOST_OUTPUT = 22_000; // bytes; the host cuts at 30,000
const EDITED = "Edit applied successfully.";
const WRITTEN = "Wrote file successfully.";
const NO_OUTPUT = "(no output)";
const LONG_FILE = 9_000; // bytes; edits no longer add to it
const RUNNER = "scripts/test.sh";

/**
 * @param {{seed: number, turns: number, project: string}} options
 * @returns {Workload}
 */
export function workload({ seed, turns, project }) {
  return new Maker(new Random(seed), turns, project).make();
}

/**
 * @param {string} project
 * @param {Map<string, string>} files
 */
export function writeFiles(project, files) {
  for (const [path, text] of files) {
    const whole = join(project, path);
    mkdirSync(dirname(whole), { recursive: true });
    writeFileSync(whole, text);
    if (path.endsWith(".sh")) chmodSync(whole, 0o755);
  }
}

class Maker {
  /**
   * @param {Random} random
   * @param {number} count
   * @param {string} project
   */
  constructor(random, count, project) {
    this.random = random;
    this.count = count;
    this.project = project;
    this.files = projectFiles(random);
    this.start = new Map(this.files);
    this.start.set(RUNNER, `#!/bin/sh\ncat ".runs/$2.txt"\nexit "$(cat ".runs/$2.code")"\n`);
    this.runs = 0;
    this.tools = 0; // bytes of tool output so far
    this.others = 0; // bytes of all other text so far
    this.heavyLeft = 0; // steps to come whose output can be large
  }

  /** @returns {Workload} */
  make() {
    const { random, count } = this;
    const kinds = random.shuffled(shares(count)).map((length) => this.kinds(length));
    this.heavyLeft = kinds.flat().filter((kind) => kind !== "edit" && kind !== "write").length;
    const places = placed(count);
    const turns = kinds.map((steps, i) => this.turn(i, steps, places.get(i) ?? []));
    return { turns, files: this.start, places, bytes: { all: this.tools + this.others, tools: this.tools } };
  }

  /**
   * @param {number} i
   * @param {string[]} steps what its tool steps do
   * @param {Item[]} items
   * @returns {Turn}
   */
  turn(i, steps, items) {
    const { random } = this;
    // Work stays with a module for some turns, and comes back to it later.
    const module = MODULES[(Math.floor(i / 6) * 5 + (random.next() < 0.2 ? 1 : 0)) % MODULES.length];
    const ask = this.ask(
      i,
      module,
      items.filter(({ by }) => by === "user"),
    );
    this.others += Buffer.byteLength(ask);
    /** @type {Reply[]} */
    const replies = [];
    for (const kind of steps) {
      const calls = this.calls(kind, module);
      for (const { output } of calls) this.tools += Buffer.byteLength(output);
      const text = random.next() < 0.8 ? this.remark(kind, module) : "";
      this.others += Buffer.byteLength(text) + calls.reduce((sum, call) => sum + inputBytes(call), 0);
      replies.push({ text, calls });
    }
    const text = this.answer(
      i,
      module,
      items.filter(({ by }) => by === "model"),
    );
    this.others += Buffer.byteLength(text);
    replies.push({ text });
    return { ask, replies, module };
  }

  /**
   * @param {number} length requests
   * @returns {string[]} what the tool steps do
   */
  kinds(length) {
    const { random } = this;
    switch (length) {
      case 1:
        return [];
      case 2:
        return [random.pick(["read", "read", "test", "grep"])];
      case 3:
        return random.pick([
          ["read", "edit"],
          ["read", "write"],
          ["grep", "read"],
          ["test", "read"],
        ]);
      default:
        return random.pick([
          ["read", "edit", "test"],
          ["grep", "read", "edit"],
          ["test", "read", "edit"],
          ["read", "write", "test"],
        ]);
    }
  }

  /** Bytes of tool output that the next large step should have. */
  wanted() {
    const all = this.count * BYTES_PER_TURN * TOOL_SHARE;
    const each = (all - this.tools) / Math.max(1, this.heavyLeft);
    this.heavyLeft--;
    return Math.max(900, Math.min(MOST_OUTPUT, Math.round(each * (0.5 + this.random.next()))));
  }

  /**
   * @param {string} kind
   * @param {string} module
   * @returns {Call[]}
   */
  calls(kind, module) {
    switch (kind) {
      case "read":
        return this.read(module, this.wanted());
      case "grep":
        return [this.grep(module, this.wanted())];
      case "test":
        return [this.test(module, this.wanted())];
      case "edit":
        return this.edit(module);
      default:
        return [this.write(module)];
    }
  }

  /** @param {string} module */
  own(module) {
    return [...this.files.keys()].filter((path) => path.startsWith(`src/${module}/`));
  }

  /**
   * Files of the module, some of them for the third time, until there is enough.
   * @param {string} module
   * @param {number} bytes
   */
  read(module, bytes) {
    const paths = this.random.shuffled(this.own(module));
    const calls = [];
    for (let size = 0; size < bytes * 0.75 && paths.length > 0; ) {
      const path = /** @type {string} */ (paths.pop());
      const filePath = join(this.project, path);
      const output = readOutput(filePath, this.files.get(path) ?? "");
      if (calls.length > 0 && size + output.length > bytes * 1.4) continue;
      size += output.length;
      calls.push({ name: "read", input: { filePath }, output });
    }
    return calls;
  }

  /**
   * Files are named, for the order in which a folder is listed is nobody's promise.
   * @param {string} module
   * @param {number} bytes
   */
  grep(module, bytes) {
    const { random } = this;
    const pattern = random.pick(["const", "input", "return", "log"]);
    /** @type {string[]} */
    const found = [];
    /** @type {string[]} */
    const paths = [];
    let size = 0;
    for (const path of random.shuffled(this.own(module).concat(this.own(random.pick(MODULES))))) {
      if (paths.includes(path)) continue;
      paths.push(path);
      const lines = (this.files.get(path) ?? "").split("\n");
      lines.forEach((line, n) => line.includes(pattern) && found.push(`${path}:${n + 1}:${line}`));
      size = found.reduce((sum, line) => sum + line.length + 1, 0);
      if (size > bytes * 0.8) break;
    }
    const command = `grep -Hn ${pattern} ${paths.join(" ")}`;
    const output = found.map((line) => line + "\n").join("");
    return {
      name: "bash",
      input: { command, description: `Find ${pattern} in ${module}` },
      output: output || NO_OUTPUT,
      exit: found.length > 0 ? 0 : 1,
    };
  }

  /**
   * @param {string} module
   * @param {number} bytes
   */
  test(module, bytes) {
    const fails = this.random.next() < 0.3;
    const output = testOutput(this.random, module, bytes, fails);
    const run = ++this.runs;
    this.start.set(`.runs/${run}.txt`, output);
    this.start.set(`.runs/${run}.code`, fails ? "1" : "0");
    const input = { command: `sh ${RUNNER} ${module} ${run}`, description: `Test the ${module}` };
    return { name: "bash", input, output, exit: fails ? 1 : 0 };
  }

  /** @param {string} module */
  edit(module) {
    const calls = [];
    const paths = this.random.shuffled(this.own(module)).slice(0, this.random.between(1, 2));
    for (const path of paths) {
      const text = this.files.get(path) ?? "";
      const lines = text.split("\n");
      const start = this.random.between(8, Math.max(8, lines.length - 30));
      const oldString = lines.slice(start, start + this.random.between(4, 14)).join("\n");
      if (oldString === "" || text.split(oldString).length !== 2) continue; // must be unique
      const added = functionLines(this.random).join("\n");
      const newString = text.length > LONG_FILE ? added : `${oldString}\n${added}`;
      this.files.set(
        path,
        text.replace(oldString, () => newString),
      );
      const input = { filePath: join(this.project, path), oldString, newString };
      calls.push({ name: "edit", input, output: EDITED });
    }
    return calls.length > 0 ? calls : [this.write(module)];
  }

  /** @param {string} module */
  write(module) {
    const path = `src/${module}/part-${this.random.hex(3)}.ts`;
    const content = sourceText(this.random, module, this.spare(3_500));
    this.files.set(path, content);
    return { name: "write", input: { filePath: join(this.project, path), content }, output: WRITTEN };
  }

  /**
   * Bytes for a piece of text that is no tool output: more if there is too little so far.
   * @param {number} usual
   */
  spare(usual) {
    const due = this.tools * (1 / TOOL_SHARE - 1);
    const missing = due - this.others;
    return Math.max(usual * 0.5, Math.min(usual * 2.5, usual + missing * 0.5));
  }

  /**
   * @param {string} kind
   * @param {string} module
   */
  remark(kind, module) {
    const { random } = this;
    const opening = {
      read: `I read what the ${module} does here first.`,
      grep: `Let me see who uses this.`,
      test: `I run the tests of the ${module}.`,
      edit: `The cause is clear enough, so I change it.`,
      write: `This deserves a file of its own.`,
    }[kind];
    return `${opening} ${sentence(random, module)}`;
  }

  /**
   * @param {number} i
   * @param {string} module
   * @param {Item[]} items
   */
  ask(i, module, items) {
    const { random } = this;
    const opening = random.pick([
      `Please look into the ${module} again: about one ${random.pick(MODULES)} run in ${random.between(5, 90)} ends late.`,
      `The ${module} has to handle a ${random.pick(["voided", "late", "partial", "held"])} period. How would you do it?`,
      `A customer reports ${random.between(2, 80)} wrong rows from the ${module}. Find out why.`,
      `Next: make the ${module} faster for tenants with more than ${random.between(2, 90)},000 rows.`,
      `Does the ${module} still agree with what the ${random.pick(MODULES)} expects?`,
      `Clean up the ${module} a little, I find it hard to follow since change ${random.between(100, 999)}.`,
    ]);
    const said = items.map(({ text }) => text);
    const paragraphs = [`${opening} (${module} ${i + 1})`, ...said, sentence(random, module)];
    if (random.next() < 0.12) {
      paragraphs.push(`This is from last night:\n\n${logText(random, module, this.spare(4_000))}`);
    }
    return paragraphs.join("\n\n");
  }

  /**
   * @param {number} i
   * @param {string} module
   * @param {Item[]} items
   */
  answer(i, module, items) {
    const { random } = this;
    const body = prose(random, module, this.spare(1_500) * (0.5 + random.next()));
    const said = items.map(({ text }) => text);
    return [`That is the ${module} as of round ${i + 1}.`, ...said, body].join("\n\n");
  }
}

/**
 * @param {number} turns
 * @returns {number[]} the requests of each turn, unordered
 */
function shares(turns) {
  const all = REQUESTS.reduce((sum, count) => sum + count, 0);
  const lengths = [];
  for (let i = 0; i < turns; i++) {
    // The place of this turn among 150 of the same mixture.
    let place = ((i + 0.5) * all) / turns;
    const length = REQUESTS.findIndex((count) => (place -= count) < 0);
    lengths.push(length < 0 ? REQUESTS.length - 1 : length);
  }
  return lengths;
}

/** @param {Call} call */
function inputBytes({ input }) {
  return Buffer.byteLength(JSON.stringify(input));
}

/**
 * @param {string} path
 * @param {string} text
 * @returns {string} what the host's read tool makes of a file that it shows whole
 */
function readOutput(path, text) {
  const lines = text.replace(/\n$/, "").split("\n");
  const numbered = lines.map((line, i) => `${i + 1}: ${line}\n`).join("");
  return (
    `<path>${path}</path>\n<type>file</type>\n<content>\n${numbered}\n` +
    `(End of file - total ${lines.length} lines)\n</content>`
  );
}
