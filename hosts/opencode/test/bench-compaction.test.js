import assert from "node:assert/strict";
import { test } from "node:test";
import { Compaction } from "../bench/compaction.js";
import { assistant, call, ids, user } from "./examples.js";

/** @param {number} tokens as the host estimates them */
const long = (tokens) => "x".repeat(tokens * 4);

test("a step that uses up the usable window is due", () => {
  const host = new Compaction(60_000);
  assert.ok(!host.due(60_000 - 8_192 - 1));
  assert.ok(host.due(60_000 - 8_192));
});

test("the newest turns stay, a quarter of the usable window at most", () => {
  const host = new Compaction(60_000); // keeps 12,952 tokens
  host.messages = [
    user("a", "first"),
    assistant("b", long(20_000)),
    user("c", "second"),
    assistant("d", long(6_000)),
    user("e", "third"),
    assistant("f", long(6_000)),
  ];
  const { start, text } = host.select();
  assert.equal(start, 2);
  assert.ok(text.startsWith("[User]: first\n\n[Assistant]: xxx"));
  host.compact(start, "the summary");
  const list = host.list();
  assert.deepEqual(ids(list).slice(2, -1), ["c", "d", "e", "f"]);
  assert.equal(list[1].parts[0].text, "the summary");
  assert.equal(list[0].info.role, "user");
  assert.equal(list[list.length - 1].info.role, "user", "the host asks the model to go on");
});

test("of a turn that does not fit, its newest messages stay", () => {
  const host = new Compaction(60_000);
  host.messages = [
    user("a", "first"),
    assistant("b", "", [call(long(9_000))]),
    assistant("c", "", [call(long(9_000))]),
    assistant("d", long(1_000)),
  ];
  assert.equal(host.select().start, 2);
  host.messages.push(assistant("e", long(20_000)));
  assert.equal(host.select().start, 5, "nothing of it fits");
});

test("the wider window keeps no more than 15,000 tokens, and a list that fits goes whole", () => {
  const host = new Compaction(400_000);
  host.messages = [
    user("a", "one"),
    assistant("b", long(9_000)),
    user("c", "two"),
    assistant("d", long(9_000)),
  ];
  assert.equal(host.select().start, 2);
  host.messages = host.messages.slice(2);
  assert.equal(host.select().start, 2, "all of it is summarised");
});

test("outputs are shown to the summariser cut", () => {
  const host = new Compaction(60_000);
  host.messages = [
    user("a", "one"),
    assistant("b", "look", [call(long(1_000))]),
    assistant("c", long(30_000)),
  ];
  const { text } = host.select();
  assert.match(
    text,
    /\[Assistant tool call\]: bash\(\{"command":"ls"\}\)\n\[Tool result\]: x{2000}\n\[truncated\]/,
  );
});
