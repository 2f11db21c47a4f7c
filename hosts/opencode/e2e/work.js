/**
 * Invented work for the scripted model: files of a project, and turns in which
 * it reads, writes and runs things and says what it found.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** @typedef {import("./provider.js").Line} Line */

const TOPICS = ["parser", "cache", "router", "ledger", "queue", "mailer", "importer", "scheduler"];
const FINDINGS = [
  "the retry loop never resets its counter",
  "the lock is taken twice on the slow path",
  "an empty row is read as the end of the file",
  "the timeout is in seconds where the caller gives milliseconds",
  "the index is rebuilt for every request",
];
const FILES = 24;

/**
 * @param {number} i
 * @param {number} lines
 */
export function fileText(i, lines) {
  const topic = TOPICS[i % TOPICS.length];
  return Array.from(
    { length: lines },
    (_, n) => `${topic}_${i}_${n} = resolve("${topic}", ${(i * 7919 + n * 104729) % 100003}) # step ${n}`,
  ).join("\n");
}

/** @param {string} project */
export function writeProject(project) {
  mkdirSync(join(project, "src"), { recursive: true });
  for (let i = 0; i < FILES; i++) writeFileSync(join(project, "src", `file${i}.txt`), fileText(i, 30) + "\n");
  writeFileSync(join(project, LONG_FILE), fileText(3, 170) + "\n");
}

/** A file that takes several pages to read again. */
export const LONG_FILE = join("src", "long.txt");

/**
 * Steps that each read two files.
 * @param {string} project
 * @param {number} count
 * @returns {Line[]}
 */
export function steps(project, count) {
  const read = (/** @type {number} */ i) => ({
    name: "read",
    input: { filePath: join(project, "src", `file${i % FILES}.txt`) },
  });
  return Array.from({ length: count }, (_, i) => ({
    text: `Step ${i}: on to ${TOPICS[i % TOPICS.length]}, since ${FINDINGS[i % FINDINGS.length]}.`,
    calls: [read(i), read(i * 3 + 1)],
  }));
}

/**
 * One turn: what the user asks, and what the model does about it.
 * @param {string} project
 * @param {number} i
 * @returns {{ask: string, script: Line[]}}
 */
export function turn(project, i) {
  const topic = TOPICS[i % TOPICS.length];
  const finding = FINDINGS[i % FINDINGS.length];
  const one = join(project, "src", `file${i % FILES}.txt`);
  const other = join(project, "src", `file${(i * 5 + 3) % FILES}.txt`);
  const notes = join(project, "notes", `${topic}-${i}.md`);
  const note = `# ${topic} ${i}\n\nFound: ${finding}.\n${fileText(i, 8)}\n`;
  /** @type {Line[]} */
  const script = [
    {
      text: `I look at the ${topic} and at what it calls, and note what I know so far.`,
      calls: [
        { name: "read", input: { filePath: one } },
        { name: "read", input: { filePath: other } },
        { name: "write", input: { filePath: notes, content: note } },
      ],
    },
    {
      text:
        `Found in ${topic} (round ${i}): ${finding}. I wrote it to notes/${topic}-${i}.md. ` +
        `I did not change file${i % FILES}.txt, because the ${topic} test would have to change with it, ` +
        `and you asked to leave tests alone. Next I would check the callers of ${topic}_${i}_3.`,
    },
  ];
  if (i === 1) script.unshift({ calls: [{ name: "read", input: { filePath: join(project, LONG_FILE) } }] });
  if (i % 5 === 4) {
    script.splice(1, 0, {
      calls: [{ name: "bash", input: { command: "ls src | head -5", description: "List" } }],
    });
  }
  return {
    ask:
      `Round ${i}: look into the ${topic} for me. Someone saw that it fails about once in ${20 + i} runs, ` +
      `mostly after a restart. Do not touch the tests. Write down what you find.`,
    script,
  };
}

/**
 * A turn that writes a large file and reads the one of the turn before.
 * @param {string} project
 * @param {string} folder of the project
 * @param {number} i
 * @returns {{ask: string, script: Line[]}}
 */
export function bulkyTurn(project, folder, i) {
  const file = (/** @type {number} */ n) => join(project, folder, `table${n}.txt`);
  const write = { name: "write", input: { filePath: file(i), content: fileText(i, 50) + "\n" } };
  const read = { name: "read", input: { filePath: file(i - 1) } };
  return {
    ask: `Write table ${i} and check the one before it.`,
    script: [
      { calls: i > 0 ? [write, read] : [write] },
      { text: `Table ${i} is written, and ${FINDINGS[i % FINDINGS.length]}.` },
    ],
  };
}
