import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import { revisions } from "../plugin/ctxplugin/revision.js";
import { assistant, call, user } from "./examples.js";

// The binary computes the same; revision_test.go holds both to one file.
const vectors = JSON.parse(readFileSync(new URL("../testdata/revision.json", import.meta.url), "utf8"));

for (const { name, messages, revisions: want } of vectors) {
  test(`revision of ${name}`, () => {
    const revs = revisions(messages.map((/** @type {any} */ { id, parts }) => ({ info: { id }, parts })));
    assert.deepEqual(
      want.map((/** @type {string} */ _, /** @type {number} */ k) => revs.at(k)),
      want,
    );
    assert.equal(revs.at(), want.at(-1));
  });
}

test("two lists share the prefix before the first difference that shows", () => {
  const list = () => [user("a", "one"), assistant("b", "two", [call("out")]), user("c", "three")];
  const before = revisions(list());
  const same = revisions(list());
  assert.equal(before.common(same), 3);

  const edited = list();
  edited[1] = assistant("b", "two", [call("other")]);
  assert.equal(before.common(revisions(edited)), 1);

  const running = list();
  running[1] = assistant("b", "two", [call("out", { status: "running" })]);
  assert.equal(before.common(revisions(running)), 1);

  assert.equal(before.common(revisions(list().slice(0, 2))), 2);
  assert.equal(before.common(revisions([...list(), user("d", "four")])), 3);
  assert.equal(before.common(revisions(list().slice(1))), 0);
});

/**
 * The formula of docs/protocol.md, once more and over the whole list.
 * @param {any[]} messages
 * @returns {string[]} the revision of each prefix
 */
function byTheFormula(messages) {
  let [a, b] = [0x811c9dc5n, 0x9747b28cn];
  const mix = (/** @type {number} */ x) => {
    a = ((a ^ BigInt(x)) * 0x01000193n) & 0xffffffffn;
    b = ((b ^ BigInt(x)) * 0x85ebca77n) & 0xffffffffn;
    b ^= b >> 13n;
  };
  const now = (/** @type {number} */ k) =>
    `${k}.${a.toString(16).padStart(8, "0")}${b.toString(16).padStart(8, "0")}`;
  const all = [now(0)];
  for (const [k, { info, parts }] of messages.entries()) {
    for (const unit of (info.id ?? "").split("")) mix(unit.charCodeAt(0));
    mix(0x110000 + parts.length);
    for (const { type, text, state } of parts) {
      const place = ["pending", "running", "completed", "error"].indexOf(state?.status);
      const said =
        type !== "tool" ? (typeof text === "string" ? text : "") : [, , state?.output, state?.error][place];
      mix(type === "tool" ? Math.max(1, place + 1) : 0);
      mix(typeof said === "string" ? said.length : said == null ? 0 : JSON.stringify(said).length);
    }
    all.push(now(k + 1));
  }
  return all;
}

// Few values each, so that most lists share much with the one before.
const said = fc.constantFrom("", "a", "b", "ab", "ü", "𝄞", "a longer text");
const output = fc.oneof(said, fc.constantFrom(undefined, null, 7, { a: ["x"] }));
const part = fc.oneof(
  fc.record({ type: fc.constantFrom("text", "reasoning"), text: said }),
  fc.record({ type: fc.constantFrom("step-start", "file") }),
  fc.record({
    type: fc.constant("tool"),
    state: fc.option(
      fc.record({
        status: fc.constantFrom("pending", "running", "completed", "error", "odd"),
        output,
        error: output,
      }),
      { nil: undefined },
    ),
  }),
);
const message = fc.record({
  info: fc.record({
    id: fc.constantFrom("m", "n", "mm", "mn", "", undefined),
    role: fc.constantFrom("user", "assistant"),
    finish: fc.constantFrom(undefined, "stop"),
    tokens: fc.constantFrom(undefined, { input: 1, output: 2 }, { input: 1, output: 3 }),
  }),
  parts: fc.array(part, { maxLength: 3 }),
});
/** A step: what is kept of the list before, one message of it that changes, and what is new. */
const change = fc.record({
  from: fc.constantFrom(0, 0, 0, 1),
  keep: fc.constantFrom(1, 1, 0.9, 0.5),
  edit: fc.option(fc.tuple(fc.nat(), message)),
  then: fc.array(message, { maxLength: 3 }),
});

test("revisions made from those of another list are those of the whole list, and a list that stands costs none", () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 8 }), fc.array(change, { maxLength: 6 }), (first, changes) => {
      let list = /** @type {any[]} */ (first);
      let revs = revisions(list);
      const held = revs;
      const whole = byTheFormula(list);
      for (const { from, keep, edit, then } of [{ from: 0, keep: 1, edit: null, then: [] }, ...changes]) {
        const before = revs;
        list = structuredClone([...list.slice(from, Math.round(list.length * keep)), ...then]);
        if (edit && list.length > 0) list[edit[0] % list.length] = edit[1];
        const next = before.of(list);
        const want = byTheFormula(list);
        assert.deepEqual(
          want.map((_, k) => next.at(k)),
          want,
        );
        assert.equal(next.at(), want.at(-1));
        const ids = list.map(({ info }) => info.id ?? "");
        assert.deepEqual(
          list.map((_, i) => next.id(i)),
          ids,
        );
        for (const id of ["m", "mn", "no such"]) assert.equal(next.place(id), ids.lastIndexOf(id));
        assert.equal(next.common(held), next.common(revisions(/** @type {any[]} */ (first))));
        assert.deepEqual(
          whole.map((_, k) => held.at(k)),
          whole,
          "an earlier list stays as it was",
        );
        assert.equal(next.of(structuredClone(list)), next, "the same list is known");
        revs = next;
      }
    }),
    { numRuns: 300 },
  );
});
