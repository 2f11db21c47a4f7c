import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
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
