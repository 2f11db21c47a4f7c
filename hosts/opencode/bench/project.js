/**
 * An invented project, and what its commands print: a billing service with a
 * dozen modules. All of it is made up from words by a seeded generator.
 */

/** @typedef {import("./random.js").Random} Random */

export const MODULES = [
  "ledger",
  "invoices",
  "importer",
  "scheduler",
  "mailer",
  "router",
  "exporter",
  "rates",
  "webhooks",
  "reports",
  "tenants",
  "archive",
];
const FILES = ["index", "store", "worker", "codec", "policy"];
const VERBS = [
  "load",
  "merge",
  "apply",
  "check",
  "split",
  "queue",
  "drain",
  "retry",
  "seal",
  "parse",
  "trim",
];
const NOUNS = [
  "Batch",
  "Cursor",
  "Entry",
  "Lease",
  "Period",
  "Row",
  "Quota",
  "Window",
  "Digest",
  "Slot",
  "Page",
];
const FIELDS = [
  "tenant",
  "period",
  "amount",
  "cursor",
  "status",
  "attempt",
  "digest",
  "owner",
  "deadline",
  "size",
];
const STATES = ["open", "held", "sealed", "voided", "late", "partial"];

const WORDS = (
  "shard cursor batch window carry period replay lease writer reader queue drain backlog checkpoint offset row " +
  "schema tenant digest header payload field slot retry timeout deadline boundary rounding total subtotal rebate " +
  "credit debit reversal statement channel handler caller callee buffer frame cache index segment snapshot"
).split(" ");

/** @param {Random} random */
export const word = (random) => random.pick(WORDS);

/** @param {Random} random */
function words(random) {
  return (
    word(random)
      .replace(/(x|ch)$/, "$1e")
      .replace(/([^aeiou])y$/, "$1ie") + "s"
  );
}

/** @param {Random} random */
function functionName(random) {
  return random.pick(VERBS) + random.pick(NOUNS) + (random.next() < 0.4 ? random.pick(NOUNS) : "");
}

/**
 * @param {Random} random
 * @param {string} name
 * @returns {string[]} the lines of one function
 */
export function functionLines(random, name = functionName(random)) {
  const [a, b, c] = random.shuffled(FIELDS);
  const lines = [
    `export function ${name}(input: ${random.pick(NOUNS)}Input, now: number): ${random.pick(NOUNS)}[] {`,
  ];
  if (random.next() < 0.5) {
    lines.unshift(
      `// The ${word(random)} of a ${word(random)} is settled before the ${word(random)} moves on.`,
    );
  }
  const count = random.between(3, 12);
  for (let i = 0; i < count; i++) {
    const limit = random.between(2, 9_000);
    lines.push(
      ...random.pick([
        [`  const ${b}${i} = input.${a} + ${limit};`],
        [`  if (input.${c} === "${random.pick(STATES)}" && now > ${limit}) return [];`],
        [
          `  for (const ${a} of input.${b}List) {`,
          `    if (${a}.${c} >= ${limit}) ${functionName(random)}(${a}, "${word(random)}");`,
          `  }`,
        ],
        [`  log.debug("${word(random)} ${word(random)}", { ${a}: input.${a}, limit: ${limit} });`],
        [`  const found${i} = index.get(\`\${input.${a}}:${word(random)}-${random.hex(4)}\`) ?? ${limit};`],
      ]),
    );
  }
  lines.push(`  return input.${b}List.filter((one) => one.${c} !== ${random.between(1, 99)});`, "}", "");
  return lines;
}

/**
 * @param {Random} random
 * @param {string} module
 * @param {number} bytes
 * @returns {string} the text of a source file of about that size
 */
export function sourceText(random, module, bytes) {
  const others = random.shuffled(MODULES).slice(0, 3);
  const lines = others.map((one) => `import { ${functionName(random)} } from "../${one}/index.js";`);
  lines.push(`import { log } from "../log.js";`, "", `const SCOPE = "${module}-${random.hex(4)}";`, "");
  for (let size = 200; size < bytes; ) {
    const next = functionLines(random);
    lines.push(...next);
    size += next.join("\n").length + 1;
  }
  return lines.join("\n") + "\n";
}

/**
 * @param {Random} random
 * @returns {Map<string, string>} paths relative to the project, and texts
 */
export function projectFiles(random) {
  const files = new Map();
  for (const module of MODULES) {
    for (const name of FILES) {
      files.set(`src/${module}/${name}.ts`, sourceText(random, module, random.between(1_800, 7_500)));
    }
  }
  return files;
}

/**
 * @param {Random} random
 * @param {string} module
 * @param {number} bytes
 * @param {boolean} fails
 * @returns {string} what a run of a module's tests prints, about that long
 */
export function testOutput(random, module, bytes, fails) {
  const lines = [`> billing@3.4.1 test`, `> run-tests src/${module}`, ""];
  let [size, passed] = [60, 0];
  for (; size < bytes; passed++) {
    const line = `  ok ${passed + 1} - ${module} can ${random.pick(VERBS)} the ${word(random)} of a ${word(random)} when it is ${random.pick(STATES)} (${random.between(1, 900)} ms)`;
    lines.push(line);
    size += line.length + 1;
    if (random.next() < 0.15) {
      const note = `    # ${word(random)}=${random.hex(8)} ${word(random)}=${random.between(10, 99_999)} after ${random.between(1, 40)} steps`;
      lines.push(note);
      size += note.length + 1;
    }
  }
  if (fails) {
    const [want, got] = [random.between(100, 9_999), random.between(100, 9_999)];
    lines.push(
      `  not ok ${passed + 1} - ${module} ${functionName(random)} keeps the ${word(random)}`,
      `    AssertionError: expected ${want}, got ${got}`,
      `      at ${functionName(random)} (src/${module}/${random.pick(FILES)}.ts:${random.between(10, 180)}:${random.between(3, 40)})`,
      `      at run (src/${module}/index.ts:${random.between(10, 90)}:7)`,
    );
  }
  lines.push("", `# tests ${passed + Number(fails)}`, `# pass ${passed}`, `# fail ${Number(fails)}`, "");
  return lines.join("\n");
}

/**
 * @param {Random} random
 * @param {string} module
 * @param {number} bytes
 * @returns {string} a log as a user pastes it, about that long
 */
export function logText(random, module, bytes) {
  const lines = [];
  for (let size = 0, second = random.between(0, 40_000); size < bytes; second += random.between(0, 9)) {
    const clock = [Math.floor(second / 3600), Math.floor(second / 60) % 60, second % 60];
    const time = clock.map((part) => String(part).padStart(2, "0")).join(":");
    const line = `${time} ${random.next() < 0.1 ? "WARN" : "info"} ${module}.${random.pick(FILES)} ${functionName(random)} ${random.pick(FIELDS)}=${random.hex(6)} ${word(random)} ${word(random)} took ${random.between(1, 4_000)} ms`;
    lines.push(line);
    size += line.length + 1;
  }
  return lines.join("\n");
}

/**
 * @param {Random} random
 * @param {string} module
 * @returns {string} one sentence of a colleague about the code
 */
export function sentence(random, module) {
  const file = `src/${module}/${random.pick(FILES)}.ts`;
  const name = functionName(random);
  return random.pick([
    `In ${file} the ${word(random)} is taken before the ${word(random)} is checked, so a ${random.pick(STATES)} ${word(random)} slips through.`,
    `\`${name}\` reads the ${word(random)} twice, and between the two reads the ${word(random)} may move by ${random.between(2, 400)}.`,
    `The ${word(random)} in ${file} is never ${random.pick(STATES)} when ${random.between(2, 90)} ${words(random)} arrive at once.`,
    `Line ${random.between(10, 190)} of ${file} assumes that every ${word(random)} has a ${word(random)}, which holds for new tenants only.`,
    `The callers of \`${name}\` in the ${random.pick(MODULES)} pass the ${word(random)} in the other order.`,
    `With ${random.between(2, 60)} ${words(random)} the ${word(random)} takes ${random.between(20, 900)} ms, most of it in \`${name}\`.`,
    `The test for the ${word(random)} covers the ${random.pick(STATES)} case, yet nothing covers any ${random.pick(STATES)} ${word(random)}.`,
    `I left \`${name}\` alone, since the ${random.pick(MODULES)} relies on its ${word(random)}.`,
  ]);
}

/**
 * @param {Random} random
 * @param {string} module
 * @param {number} bytes
 * @returns {string} paragraphs, about that long
 */
export function prose(random, module, bytes) {
  const paragraphs = [];
  for (let size = 0; size < bytes; ) {
    const lines = [];
    for (let i = random.between(2, 5); i > 0 && size < bytes; i--) {
      const next = sentence(random, module);
      lines.push(random.next() < 0.3 ? `\n- ${next}` : next);
      size += next.length + 1;
    }
    paragraphs.push(lines.join(" "));
  }
  return paragraphs.join("\n\n");
}
