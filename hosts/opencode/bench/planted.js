/**
 * What a careful colleague would still know at the end of the session: said
 * once, by the user or by the model, and asked for in the last request. An item
 * is lost if one of its probes is missing there; a rejected alternative without
 * its cause is therefore lost.
 */

/** @typedef {"constraint" | "identifier" | "decision" | "rejected" | "failure" | "open"} Dimension */

/**
 * @typedef {object} Item
 * @property {Dimension} dimension
 * @property {"user" | "model"} by
 * @property {string} text
 * @property {string[]} probes without characters that JSON escapes
 */

/** @type {Dimension[]} */
export const DIMENSIONS = ["constraint", "identifier", "decision", "rejected", "failure", "open"];

/**
 * @param {Dimension} dimension
 * @param {"user" | "model"} by
 * @param {string} text
 * @param {string[]} probes
 * @returns {Item}
 */
const item = (dimension, by, text, ...probes) => ({ dimension, by, text, probes });

/** Each dimension in the order in which its items are said. @type {Item[]} */
export const ITEMS = [
  item(
    "constraint",
    "user",
    "Never write to the table settled_days: the tax export reads it by column position.",
    "settled_days",
    "column position",
  ),
  item(
    "constraint",
    "user",
    "Do not add a runtime dependency; the appliance build has no network and ships 11 packages only.",
    "runtime dependency",
  ),
  item(
    "constraint",
    "user",
    "Always keep amounts in minor units as bigint, never as a number.",
    "minor units",
    "bigint",
  ),
  item(
    "constraint",
    "user",
    "You must not rename the header x-batch-lineage, two customers match on it.",
    "x-batch-lineage",
  ),
  item(
    "constraint",
    "user",
    "Don't touch anything below src/legacy-tariff, it is frozen until the audit is over.",
    "legacy-tariff",
  ),
  item(
    "constraint",
    "user",
    "Every migration must be reversible within 90 seconds, otherwise operations will refuse it.",
    "90 seconds",
  ),

  item(
    "identifier",
    "model",
    "The failing run is build 48213-kestrel, and only that build has the symbols.",
    "48213-kestrel",
  ),
  item(
    "identifier",
    "user",
    "The customer's tenant id is tn_9f27c4b1e8, use it whenever you replay something.",
    "tn_9f27c4b1e8",
  ),
  item(
    "identifier",
    "model",
    "The wrong rows come from commit 7be41d09c2, which swapped the two cursors.",
    "7be41d09c2",
  ),
  item(
    "identifier",
    "user",
    "Staging listens on port 47613 behind the relay named osprey-relay-3.",
    "47613",
    "osprey-relay-3",
  ),
  item(
    "identifier",
    "model",
    "The flag that turns the new path on is LEDGER_DUAL_CURSOR_V2.",
    "LEDGER_DUAL_CURSOR_V2",
  ),
  item("identifier", "model", "The lock that both workers wait for is advisory lock 880417.", "880417"),

  item(
    "decision",
    "model",
    "I decided to keep one writer per ledger shard, because two writers reorder the carry entries.",
    "one writer per ledger shard",
    "carry entries",
  ),
  item(
    "decision",
    "user",
    "Let's go with the nightly snapshot instead of the event log, because restore has to work offline.",
    "nightly snapshot",
    "offline",
  ),
  item(
    "decision",
    "model",
    "I decided that retries back off from 250 ms to 8 s, because the bank throttles above 4 calls a second.",
    "250 ms",
    "throttles",
  ),
  item(
    "decision",
    "model",
    "We chose the cursor table over LISTEN/NOTIFY, because the pooler drops notifications.",
    "cursor table",
    "pooler drops",
  ),
  item(
    "decision",
    "user",
    "We agreed to round half-even at the invoice total only, because the line items are shown net.",
    "half-even",
    "shown net",
  ),
  item(
    "decision",
    "model",
    "I decided to store webhook bodies compressed, because raw bodies fill the partition in nine days.",
    "compressed",
    "nine days",
  ),

  item(
    "rejected",
    "model",
    "I tried the streaming CSV reader tidecsv and rejected it, because 4.2.1 drops the last row when the file has no newline at its end.",
    "tidecsv",
    "drops the last row",
  ),
  item(
    "rejected",
    "model",
    "I rejected a unique index on (tenant, period), because reissued invoices share both and 312 rows collide.",
    "unique index",
    "312 rows",
  ),
  item(
    "rejected",
    "model",
    "A worker pool of 16 was rejected: above 10 the connection limit of the replica is exhausted.",
    "worker pool of 16",
    "connection limit of the replica",
  ),
  item(
    "rejected",
    "model",
    "I considered hashing with xxh3 and rejected it, because the partner verifies SHA-256 only.",
    "xxh3",
    "partner verifies",
  ),
  item(
    "rejected",
    "model",
    "Upgrading pgmink to 9 was rejected, because its 9.x line needs glibc 2.34 and the appliance has 2.31.",
    "pgmink",
    "glibc 2.34",
  ),
  item(
    "rejected",
    "model",
    "I rejected caching the rate table in memory, because rates are corrected backdated and four workers disagreed.",
    "caching the rate table",
    "backdated",
  ),

  item(
    "failure",
    "model",
    "The replay failed with ERR_CARRY_MISMATCH in period 2024-11; the difference is 18 minor units.",
    "ERR_CARRY_MISMATCH",
    "2024-11",
  ),
  item(
    "failure",
    "model",
    "The importer failed with EPOLL_STALL after exactly 65,536 rows.",
    "EPOLL_STALL",
    "65,536",
  ),
  item(
    "failure",
    "model",
    "The mailer test fails with SMTP 452 when the queue holds more than 300 letters.",
    "SMTP 452",
    "300 letters",
  ),
  item(
    "failure",
    "model",
    "The scheduler failed on the leap second run: job drift-9 started twice.",
    "leap second",
    "drift-9",
  ),
  item(
    "failure",
    "model",
    "The export failed with E_TRUNC_UTF8 in field memo of partner Q7.",
    "E_TRUNC_UTF8",
    "partner Q7",
  ),
  item(
    "failure",
    "model",
    "The rates job failed: HTTP 418 from the sandbox whenever the date is a holiday.",
    "HTTP 418",
    "holiday",
  ),

  item(
    "open",
    "model",
    "TODO: the retention job still ignores voided invoices.",
    "retention job",
    "voided invoices",
  ),
  item(
    "open",
    "user",
    "Still open, and not for now: the dunning letters need a Danish template.",
    "dunning letters",
    "Danish template",
  ),
  item(
    "open",
    "model",
    "TODO: nobody has checked what happens when a shard moves during month end.",
    "shard moves during month end",
  ),
  item(
    "open",
    "model",
    "Open question: whether the proforma numbers may have gaps; legal has not answered.",
    "proforma numbers",
    "legal has not answered",
  ),
  item(
    "open",
    "user",
    "Later we also need the SEPA return codes in the report, remind me of it.",
    "SEPA return codes",
  ),
  item(
    "open",
    "model",
    "TODO: remove the shim compat-0418 after the March release.",
    "compat-0418",
    "March release",
  ),
];

/** Share of the session within which all items are said. */
const SAID_WITHIN = 0.75;

/**
 * Which items are said in which turn. The first constraint comes in the first
 * turns, and the dimensions take turns, so that none is older than another.
 * @param {number} turns
 * @returns {Map<number, Item[]>} by turn, counted from 0
 */
export function placed(turns) {
  /** @type {Map<number, Item[]>} */
  const places = new Map();
  const each = ITEMS.length / DIMENSIONS.length;
  const by = DIMENSIONS.map((dimension) => ITEMS.filter((one) => one.dimension === dimension));
  for (let i = 0; i < ITEMS.length; i++) {
    const one = by[i % DIMENSIONS.length][Math.floor(i / DIMENSIONS.length) % each];
    const turn = Math.min(turns - 1, 1 + Math.floor((i * turns * SAID_WITHIN) / ITEMS.length));
    places.set(turn, [...(places.get(turn) ?? []), one]);
  }
  return places;
}

/**
 * @param {Item} one
 * @param {string} text of a request, as JSON or not
 */
export function isIn({ probes }, text) {
  return probes.every((probe) => text.includes(probe));
}
