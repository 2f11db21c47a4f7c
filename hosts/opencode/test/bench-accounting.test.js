import assert from "node:assert/strict";
import { test } from "node:test";
import { Account, quantile } from "../bench/accounting.js";

/**
 * Blocks from words; one that ends in `*` is marked.
 * @param {string} words
 */
const blocks = (words) =>
  words.split(" ").map((word) => ({ text: word.replace("*", ""), marked: word.endsWith("*") }));

/** @param {number} value @param {number} expected */
const near = (value, expected) => assert.ok(Math.abs(value - expected) < 1e-9, `${value}, not ${expected}`);

test("the first request is written, what a later one shares is read", () => {
  const account = new Account();
  assert.deepEqual(account.main(blocks("aaaa bbbb*")), { bytes: 8, shared: 0, read: 0, changed: false });
  assert.deepEqual(account.main(blocks("aaaa bbbb* cc*")), { bytes: 10, shared: 8, read: 8, changed: false });
  near(account.prefixCost, 8 * 1.25 + (8 * 0.1 + 2 * 1.25));
  near(account.markCost, account.prefixCost);
});

test("a prefix counts to the byte, an entry only at a marked border", () => {
  const account = new Account();
  account.main(blocks("aaaa bbbb* cccc*"));
  const charge = account.main(blocks("aaaa bbbb* ccxx*"));
  assert.deepEqual(charge, { bytes: 12, shared: 10, read: 8, changed: true });
  near(account.prefixCost, 12 * 1.25 + 10 * 0.1 + 2 * 1.25);
  near(account.markCost, 12 * 1.25 + 8 * 0.1 + 4 * 1.25);
});

test("without a mark nothing is written, and without one nothing is read", () => {
  const account = new Account();
  account.main(blocks("aaaa bbbb"));
  assert.equal(account.main(blocks("aaaa bbbb cccc*")).read, 0, "there is no entry");
  assert.equal(account.main(blocks("aaaa bbbb cccc dddd")).read, 0, "there is no mark to look back from");
  assert.equal(account.main(blocks("aaaa bbbb cccc dddd*")).read, 12);
});

test("an entry is found 20 blocks before a mark, and no further", () => {
  const middle = (/** @type {number} */ count) => Array.from({ length: count }, (_, i) => `m${i}`).join(" ");
  for (const [between, read] of [
    [19, 4],
    [20, 0],
  ]) {
    const account = new Account();
    account.main(blocks("aaaa*"));
    assert.equal(account.main(blocks(`aaaa ${middle(between)} last*`)).read, read, `${between} between`);
  }
});

test("an entry stays readable after requests that did not have it", () => {
  const account = new Account();
  account.main(blocks("aaaa bbbb*"));
  account.main(blocks("aaaa xxxx*"));
  const charge = account.main(blocks("aaaa bbbb* c*"));
  assert.deepEqual([charge.shared, charge.read], [4, 8]);
});

test("equal bytes behind a difference are not shared", () => {
  const account = new Account();
  account.main(blocks("aaaa bbbb cccc*"));
  assert.deepEqual(account.main(blocks("xaaa bbbb cccc*")), { bytes: 12, shared: 0, read: 0, changed: true });
});

test("a request that is a prefix of the one before has changed it", () => {
  const account = new Account();
  account.main(blocks("aaaa bbbb*"));
  assert.deepEqual(account.main(blocks("aaaa*")), { bytes: 4, shared: 4, read: 0, changed: true });
});

test("side requests cost their bytes and leave the prefix alone", () => {
  const account = new Account();
  account.main(blocks("aaaa*"));
  account.aside(blocks("summary ofit"));
  assert.equal(account.main(blocks("aaaa*")).shared, 4);
  near(account.prefixCost, 4 * 1.25 + 11 + 4 * 0.1);
  assert.equal(account.sideRequests, 1);
});

test("bytes are counted, not characters", () => {
  const account = new Account();
  assert.equal(account.main(blocks("äöü*")).bytes, 6);
  const charge = account.main(blocks("äöß*"));
  assert.equal(charge.shared, 5, "ü and ß share their first byte");
});

test("quantiles of a sorted list", () => {
  assert.equal(quantile([1, 2, 3, 4], 0.5), 3);
  assert.equal(quantile([1, 2, 3, 4], 1), 4);
  assert.ok(Number.isNaN(quantile([], 0.5)));
});
