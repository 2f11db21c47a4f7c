/**
 * What the mock answers when the host asks for a summary of the session: about
 * as long as models make it, true, and with a part of what was planted. Of what
 * it read, raw or in the summary before, it passes on a fixed share by dimension;
 * what it does not pass on it names without the detail.
 */
import { createHash } from "node:crypto";
import { isIn } from "./planted.js";

/** @typedef {import("./planted.js").Item} Item */
/** @typedef {import("./planted.js").Dimension} Dimension */
/** @typedef {import("./workload.js").Turn} Turn */

export const SUMMARY_BYTES = 9_000;

/**
 * Percent of the items of a dimension that a summary passes on. Decisions mostly
 * survive a summary, paths and numbers seldom.
 * @type {Record<Dimension, number>}
 */
export const PASSED_ON = {
  constraint: 80,
  identifier: 40,
  decision: 80,
  rejected: 40,
  failure: 50,
  open: 60,
};

/**
 * @param {string} request text of the request for a summary
 * @param {Turn[]} turns those played so far
 * @param {Item[]} items
 * @param {number} number of the summary in its session, so that each draws anew
 * @returns {string}
 */
export function summary(request, turns, items, number) {
  const read = items.filter((item) => isIn(item, request));
  const passed = read.filter((item) => percent(`${number} ${item.text}`) < PASSED_ON[item.dimension]);
  const of = (/** @type {Dimension[]} */ ...dimensions) =>
    passed.filter(({ dimension }) => dimensions.includes(dimension)).map(({ text }) => `- ${text}`);
  const newest = turns[turns.length - 1];
  const files = new Set(turns.slice(-12).flatMap(filesOf));
  const head = [
    "## Objective",
    `- Work through the user's requests on the billing service; now: ${firstLine(newest.ask)}`,
    "",
    "## Important Details",
    ...of("constraint", "decision", "rejected", "identifier"),
    "",
    "## Work State",
    "### Active",
    `- ${firstLine(newest.ask)}`,
    "",
    "### Blocked",
    ...of("failure"),
    "",
    "## Next Move",
    ...of("open"),
    "",
    "## Relevant Files",
    ...[...files].slice(0, 20).map((path) => `- ${path}`),
    "",
    "### Completed",
  ];
  const lines = [];
  let left = SUMMARY_BYTES - Buffer.byteLength(head.join("\n"));
  for (let i = turns.length - 1; i >= 0; i--) {
    const { ask, replies } = turns[i];
    const end = (replies[replies.length - 1].text ?? "").split("\n").filter(isSaid);
    const line = `- ${firstLine(ask)} ${end.slice(1, 3).join(" ").slice(0, 400)}`;
    left -= Buffer.byteLength(line) + 1;
    if (left < 0) break;
    lines.unshift(line);
  }
  return [...head, ...lines].join("\n");

  /** @param {string} line of an answer */
  function isSaid(line) {
    return line !== "" && !items.some(({ text }) => line.includes(text));
  }
}

/** @param {string} text */
function firstLine(text) {
  return text.split("\n", 1)[0];
}

/** @param {Turn} turn */
function filesOf({ replies }) {
  return replies.flatMap(({ calls = [] }) =>
    calls.flatMap(({ input }) => ("filePath" in input ? [String(input.filePath)] : [])),
  );
}

/** @param {string} text */
function percent(text) {
  return createHash("sha256").update(text).digest().readUInt32BE(0) % 100;
}
