import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { RpcError } from "../plugin/ctxplugin/process.js";
import { revisions } from "../plugin/ctxplugin/revision.js";
import { Mirror } from "../plugin/ctxplugin/sync.js";
import { wireMessage } from "../plugin/ctxplugin/wire.js";
import { SESSION, user } from "./examples.js";

/** @typedef {import("../plugin/ctxplugin/host.js").Message} Message */

/** A binary that keeps one list, as docs/protocol.md says it does. */
class Binary {
  generation = 1;
  timing = { sync: 1000 };
  /** @type {Message[]} */
  list = [];
  /** @type {Map<string, Message>} the messages by what is sent of them */
  sent = new Map();
  syncs = 0;

  /**
   * @param {string} method
   * @param {string} params
   */
  async request(method, params) {
    assert.equal(method, "session/sync");
    this.syncs++;
    const { base, keep, check, messages } = JSON.parse(params);
    const revs = revisions(this.list);
    const known = revs.at() === base || base === revisions([]).at(); // the empty list is always known
    if (!known || revs.at(Math.min(keep, revs.count)) !== check) throw this.resync();
    const fresh = messages.map((/** @type {object} */ message) => this.sent.get(JSON.stringify(message)));
    assert.ok(fresh.every(Boolean), "what was sent is no message of the list");
    this.list = [...this.list.slice(0, keep), ...fresh];
    return { rev: revisions(this.list).at() };
  }

  resync() {
    const revs = revisions(this.list);
    const data = { code: "resync", keep: revs.count, check: revs.at() };
    return new RpcError({ data });
  }
}

/**
 * One step: the list as it is now goes to the binary.
 * @param {Mirror} mirror
 * @param {Binary} binary
 * @param {Message[]} list
 */
async function step(mirror, binary, list) {
  for (const message of list) binary.sent.set(JSON.stringify(JSON.parse(wireMessage(message))), message);
  mirror.sendAhead(list);
  const early = binary.syncs;
  const snapshot = mirror.snapshot(list);
  try {
    await mirror.push(snapshot);
    if (revisions(binary.list).at() !== snapshot.revs.at()) throw binary.resync(); // so is the question that follows
  } catch (error) {
    assert.ok(error instanceof RpcError);
    await mirror.settle(snapshot, error);
  }
  assert.deepEqual(binary.list.map(wireMessage), list.map(wireMessage));
  return early;
}

test("what stands behind a list is sent before the list is walked over, and once", async () => {
  const binary = new Binary();
  const mirror = new Mirror(/** @type {any} */ (binary), SESSION);
  const list = Array.from({ length: 20 }, (_, i) => user(`m${i}`, "word"));
  assert.equal(await step(mirror, binary, list), 0, "nothing is known yet");
  const began = binary.syncs;
  assert.equal(await step(mirror, binary, [...list, user("n", "new")]), began + 1);
  assert.equal(binary.syncs, began + 1);

  // more has changed than what was looked at
  list[2] = user("m2", "another");
  await step(mirror, binary, [...list, user("n", "new"), user("o", "newer")]);
  // nothing is guessed of a list that lost its end
  const before = binary.syncs;
  assert.equal(await step(mirror, binary, [...list.slice(0, 10), user("n", "new")]), before);
});

const said = fc.constantFrom("", "a", "bb", "ccc", "dddd"); // what is as long is the same
const change = fc.record({
  keep: fc.constantFrom(1, 1, 1, 0.9, 0.4),
  edit: fc.option(fc.tuple(fc.nat(), said)),
  then: fc.array(said, { maxLength: 3 }),
  restart: fc.constantFrom(false, false, false, true),
  forget: fc.constantFrom(false, false, false, false, true),
});

test("whatever becomes of a list, the binary ends with it", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(said, { maxLength: 30 }),
      fc.array(change, { maxLength: 8 }),
      async (first, changes) => {
        const binary = new Binary();
        const mirror = new Mirror(/** @type {any} */ (binary), SESSION);
        let ids = 0;
        let list = first.map((text) => user(`m${ids++}`, text));
        await step(mirror, binary, list);
        for (const { keep, edit, then, restart, forget } of changes) {
          list = list.slice(0, Math.round(list.length * keep));
          if (edit && list.length > 0) {
            const at = edit[0] % list.length;
            list[at] = user(list[at].info.id, edit[1]);
          }
          list = [...list, ...then.map((text) => user(`m${ids++}`, text))];
          if (restart) binary.generation++;
          if (forget) binary.list = [];
          await step(mirror, binary, list);
        }
      },
    ),
  );
});
