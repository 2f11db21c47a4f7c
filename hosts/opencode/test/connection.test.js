import assert from "node:assert/strict";
import { test } from "node:test";
import { Connection } from "../plugin/ctxplugin/connection.js";
import { timing } from "../plugin/ctxplugin/timing.js";

// A quick binary answers one question, and the next is asked, within a millisecond.
test("what was heard before a question is no answer to it", () => {
  const connection = new Connection(/** @type {any} */ ({ timing: timing() }));
  const asked = performance.now();
  for (const [heardAt, silent] of /** @type {[number, boolean][]} */ ([
    [asked - 1, true],
    [asked, true],
    [asked + 0.01, false],
  ])) {
    connection.silentSince = 0;
    connection.hello = /** @type {any} */ ({});
    connection.process = /** @type {any} */ ({ heardAt });
    connection.gaveUp(asked);
    assert.equal(connection.silent, silent, `heard ${heardAt - asked} ms after it`);
  }
});
