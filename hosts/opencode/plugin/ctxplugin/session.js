/**
 * One session of the host: every step asks the binary for the plan and applies
 * it; without an answer the last plan is applied and the list made to fit.
 */
import { within } from "./connection.js";
import { fitMeasured, messageBytes, TOKENS_PER_BYTE, usableTokens } from "./fit.js";
import { Newest } from "./newest.js";
import { applyPlan, isPlan } from "./plan.js";
import { RpcError } from "./process.js";
import { isStanding, Standing } from "./standing.js";
import { Mirror } from "./sync.js";
import { reached } from "./trace.js";
import { isFirstStep } from "./turn.js";
import { markMetadata, wireLimits, wirePrices } from "./wire.js";

/** @typedef {import("./host.js").Message} Message */
/** @typedef {import("./host.js").UserMessage} UserMessage */
/** @typedef {import("./host.js").Model} Model */
/** @typedef {import("./plan.js").Plan} Plan */

/**
 * @typedef {object} Surroundings what all sessions of one plugin instance share
 * @property {import("./connection.js").Connection} connection
 * @property {import("./models.js").Models} models
 * @property {import("./models.js").FixedParts} fixedParts
 * @property {import("./planfile.js").PlanFiles} planFiles
 * @property {import("./notices.js").Notices} notices
 * @property {{plugins: string}} host names of the host's plugins: another set may add system text
 */

const BYTES_PER_MS = 2000; // that a session never sent before may take longer
const ANSWER_MARGIN_MS = 50; // between the binary's deadline and ours
const MARK_CAP = 4; // cache marks that a provider takes in one request
const HOST_TRAILING_MARKS = 2; // the host marks the last two messages
const HOST_SYSTEM_MARKS = 2; // and at most so many blocks of system text

export class Session {
  /**
   * @param {string} id
   * @param {Surroundings} around
   */
  constructor(id, around) {
    this.id = id;
    this.around = around;
    this.mirror = new Mirror(around.connection, id);
    this.newest = new Newest();
    /** most output tokens that the next request may ask for; 0 leaves it */
    this.maxOutput = 0;
    this.agent = "";
    /** @type {Promise<unknown> | null} questions of this session under way, one after another */
    this.queue = null;
    const kept = around.planFiles.load(id);
    /** @type {Plan | null} */
    this.plan = kept?.plan ?? null;
    this.applied = kept?.applied ? kept.plan.id : "";
    this.cut = kept?.cut ?? "";
    /** what an earlier process saw of the fixed part, while this one has seen none */
    this.fixed = kept?.fixed;
    /** @type {(import("./fit.js").Measured & {planID: string}) | null} what the binary measured last */
    this.measured = null;
    /** @type {Standing | null} for which requests the plan is the answer */
    this.standing = null;
    /** how often the binary had to be asked from then on */
    this.revoked = 0;
    /** @type {import("./standing.js").Circumstances | null} of the last question */
    this.asked = null;
    this.saved = "";
  }

  /**
   * Prepares the list of one request. Nothing is awaited where the answer is known,
   * and otherwise, where all is known that it takes, nothing before the questions are
   * written: the host would do its own work first.
   * @param {Message[]} messages
   * @param {UserMessage} user the newest real user message
   */
  async step(messages, user) {
    reached("begun");
    this.agent = user.agent;
    const model = this.around.models.get(user.model) ?? (await this.#model(user));
    const first = isFirstStep(messages);
    const { edited } = this.mirror; // of which sending makes another set
    if (!this.queue && this.around.connection.hello) this.mirror.sendAhead(messages);
    const list = this.mirror.snapshot(messages);
    if (!first && this.#known(list, edited, user, model)) return this.#repeat(messages, list, user, model);
    const { revoked } = this;
    const reply = await this.#ask(list, user, model).catch((error) => this.#failed(error));
    if (reply?.plan) this.plan = reply.plan;
    this.maxOutput = Number(reply?.maxOutput ?? 0);
    const current = reply && this.plan?.id === reply.planID;
    // The host's title agent reads the same list during the first step.
    const { plan } = this;
    const done = !first && plan ? applyPlan(messages, plan, user, this.#mark(user, model), list.revs) : false;
    this.standing = null;
    if (current && (done || first)) {
      this.applied = done ? reply.planID : "";
      this.cut = "";
      this.#learn(reply, list, revoked);
    } else {
      const cut = this.#shrink(messages, user, model, done);
      this.applied = done && !cut && this.plan ? this.plan.id : "";
      this.cut = cut;
    }
    this.#save(user);
    reached("done");
  }

  /**
   * Whether the plan at hand is what the binary would answer.
   * @param {import("./sync.js").Snapshot} list
   * @param {Set<string>} edited messages that events named since the last question
   * @param {UserMessage} user
   * @param {Model | undefined} model
   */
  #known({ messages, revs }, edited, user, model) {
    const { standing, plan } = this;
    const { connection } = this.around;
    if (!standing || standing.planID !== plan?.id || !connection.hello || connection.silent) return false;
    // What stands in the head may be so no more.
    const through = plan.through ? revs.place(plan.through) : -1;
    for (const id of edited) {
      const place = revs.place(id);
      if (place >= 0 && place <= through) return false;
      if (plan.edits.some(({ messageID }) => messageID === id)) return false;
    }
    return standing.covers(messages, revs, this.#circumstances(user, model));
  }

  /**
   * Prepares a list with the plan at hand, and tells the binary behind that. While it
   * has not answered the last question nothing is told: the next list shows it all.
   * @param {Message[]} messages
   * @param {import("./sync.js").Snapshot} list
   * @param {UserMessage} user
   * @param {Model | undefined} model
   */
  #repeat(messages, list, user, model) {
    const plan = /** @type {Plan} */ (this.plan);
    if (!this.queue) this.#tell(list, user, model); // before anything in the list is edited
    const done = applyPlan(messages, plan, user, this.#mark(user, model), list.revs);
    this.cut = done ? "" : this.#shrink(messages, user, model, false);
    this.applied = done ? plan.id : "";
    this.#save(user);
    reached("done");
  }

  /**
   * @param {import("./sync.js").Snapshot} list
   * @param {UserMessage} user
   * @param {Model | undefined} model
   */
  #tell(list, user, model) {
    const { planID } = /** @type {Standing} */ (this.standing);
    const { revoked } = this;
    const until = Date.now() + this.around.connection.timing.answer;
    const pushed = this.mirror.push(list);
    const answer = this.#transform(list.revs.at(), user, model, until, planID);
    pushed.catch(() => {}); // whether all is there shows in the answer
    const queue = answer
      .then(
        (reply) => this.#learn(reply, list, revoked),
        (error) => {
          this.standing = null; // the list is edited by now: the next question sends what is missing
          this.#failed(error);
        },
      )
      .then(() => {
        if (this.queue === queue) this.queue = null;
      });
    this.queue = queue;
  }

  /**
   * Takes from an answer for which requests it stands, and what was measured.
   * @param {{planID: string, standing?: unknown, stats?: any}} reply
   * @param {{messages: Message[], revs: import("./revision.js").Revisions}} list that it is the answer for
   * @param {number} revoked as it was when that was asked
   */
  #learn({ planID, standing, stats }, { messages, revs }, revoked) {
    this.standing = null;
    if (planID !== this.plan?.id) return;
    const { messages: tokens, usable } = stats ?? {};
    const last = messages[messages.length - 1]?.info.id;
    if (tokens > 0 && usable > 0) this.measured = { planID, last, tokens, usable };
    if (isStanding(standing) && standing.rev === revs.at() && this.asked && revoked === this.revoked)
      this.standing = new Standing(planID, standing, revs, this.asked);
  }

  /**
   * A turn has ended: what ended it is sent, so that the binary can decide on what the
   * next one begins with. Until it says what that is, it has to be asked.
   */
  ended() {
    const message = this.newest.ended();
    if (!message || !this.mirror.sendBehind(message)) return;
    this.standing = null;
    this.revoked++; // an answer that is on the way still is for the turn that has ended
  }

  /**
   * Takes a plan that the binary tells of between two requests, or that it has to be
   * asked: behind the answers that came before it, which may be read already and not
   * yet taken.
   * @param {import("./standing.js").News} news
   */
  planned(news) {
    const take = () => {
      this.standing = null;
      const revs = this.mirror.held?.revs;
      const { planID, plan, standing } = news;
      if (!isStanding(standing) || standing.rev !== revs?.at() || !this.asked) return;
      if (isPlan(plan)) this.plan = plan;
      if (this.plan && planID === this.plan.id)
        this.standing = new Standing(this.plan.id, standing, revs, this.asked);
    };
    if (!isStanding(news.standing)) {
      this.standing = null;
      this.revoked++;
      if (news.forgotten) this.#forget();
      return;
    }
    const before = [this.queue, this.mirror.ahead?.sent].filter(Boolean);
    if (before.length > 0) Promise.allSettled(before).then(take);
    else take();
  }

  /** Nothing that was made of the session so far may be sent any more. */
  #forget() {
    this.plan = null;
    this.applied = "";
    this.saved = "";
    this.around.planFiles.forget(this.id);
  }

  /**
   * @param {UserMessage} user
   * @param {Model | undefined} model
   * @returns {import("./standing.js").Circumstances}
   */
  #circumstances(user, model) {
    const { context, output } = wireLimits(model);
    const { providerID, modelID } = user.model;
    return {
      generation: this.around.connection.generation,
      model: JSON.stringify([user.agent, providerID, modelID, context, output]),
      fixedBytes: this.#fixed(user)?.bytes ?? 0,
      now: Date.now(),
    };
  }

  /**
   * Prepares the list that the host's own compaction reads: as it is, unless it
   * would not fit.
   * @param {Message[]} messages
   * @param {UserMessage} user
   */
  async compaction(messages, user) {
    const model = await this.#model(user);
    const usable = this.#usable(user, model);
    if (messages.reduce((sum, message) => sum + messageBytes(message), 0) * TOKENS_PER_BYTE <= usable) return;
    const done = this.plan ? applyPlan(messages, this.plan, user) : false;
    this.#shrink(messages, user, model, done);
  }

  /**
   * @param {import("./sync.js").Snapshot} list
   * @param {UserMessage} user
   * @param {Model | undefined} model
   * @returns {Promise<{planID: string, plan?: Plan, maxOutput?: number, standing?: unknown, stats?: any} | null>}
   */
  async #ask(list, user, model) {
    const { connection, notices } = this.around;
    const ms = connection.silent ? connection.timing.silent : this.#patience(list.messages);
    const began = performance.now();
    const until = Date.now() + ms;
    const call = { abandoned: false };
    const ask = async () => {
      const hello = connection.hello ?? (await connection.ready(Math.min(connection.timing.start, ms)));
      if (!hello || call.abandoned) return null;
      const pushed = this.mirror.push(list);
      const asked = this.#transform(list.revs.at(), user, model, until);
      reached("asked");
      pushed.catch(() => {}); // whether all is there shows in the answer
      try {
        return await asked;
      } catch (error) {
        if (call.abandoned || !(error instanceof RpcError) || error.code !== "resync") throw error;
        const rev = await this.mirror.settle(list, error);
        return call.abandoned ? null : this.#transform(rev, user, model, until);
      }
    };
    const answer = this.queue ? this.queue.then(ask) : ask();
    const queue = answer
      .catch((error) => this.#failed(error))
      .then(() => {
        if (this.queue === queue) this.queue = null;
      });
    this.queue = queue;
    const reply = await within(ms, answer, null);
    call.abandoned = true;
    if (reply && (typeof reply.planID !== "string" || (reply.plan && !isPlan(reply.plan)))) return null;
    if (!reply) {
      connection.gaveUp(began);
      notices.tell(
        "warning",
        "The context manager does not answer. Requests go out with the history as it was last prepared; " +
          "when that no longer fits, the oldest steps are left out.",
      );
    }
    return reply;
  }

  /**
   * @param {Error} error
   * @returns {null} no answer
   */
  #failed(error) {
    this.around.notices.tell("debug", `session ${this.id}: ${error.message}`);
    return null;
  }

  /**
   * @param {string} rev
   * @param {UserMessage} user
   * @param {Model | undefined} model
   * @param {number} until
   * @param {string} [sent] the plan that the request went out with already
   */
  async #transform(rev, user, model, until, sent) {
    const { connection, models } = this.around;
    const left = Math.max(1, until - Date.now());
    const { agent } = user;
    const { fixedBytes, now } = (this.asked = this.#circumstances(user, model));
    return connection.request(
      "session/transform",
      {
        sessionID: this.id,
        rev,
        applied: sent ?? this.applied,
        sent: sent !== undefined,
        deadlineMs: Math.max(1, Math.round(left) - ANSWER_MARGIN_MS),
        agent,
        model: {
          id: user.model.modelID,
          provider: user.model.providerID,
          ...wireLimits(model),
          prices: wirePrices(model, models.priced(model)),
        },
        fixedBytes,
        now,
      },
      left,
    );
  }

  /**
   * How long a step may wait: longer where a whole session is to be sent first.
   * @param {Message[]} messages
   */
  #patience(messages) {
    const { answer, longestAnswer } = this.around.connection.timing;
    if (this.plan || this.mirror.held) return answer;
    const bytes = messages.reduce((sum, message) => sum + messageBytes(message), 0);
    return Math.min(answer + bytes / BYTES_PER_MS, longestAnswer);
  }

  /** @param {UserMessage} user */
  #model(user) {
    return this.around.models.lookup(user.model, this.around.connection.timing.lookup);
  }

  /**
   * The metadata of a cache mark, if this request has room for one more.
   * @param {UserMessage} user
   * @param {Model | undefined} model
   */
  #mark(user, model) {
    const fixed = this.#fixed(user);
    // Another set of plugins may add system text that was not seen yet.
    if (fixed?.plugins !== this.around.host.plugins) return undefined;
    const taken = Math.min(fixed.blocks, HOST_SYSTEM_MARKS) + HOST_TRAILING_MARKS;
    return taken < MARK_CAP ? markMetadata(model) : undefined;
  }

  /**
   * @param {UserMessage} user
   * @param {Model | undefined} model
   */
  #usable(user, model) {
    return usableTokens(wireLimits(model), this.#fixed(user)?.bytes ?? 0);
  }

  /**
   * The fixed part of the last request of this agent and model.
   * @param {UserMessage} user
   * @returns {import("./planfile.js").Fixed | undefined}
   */
  #fixed(user) {
    const { fixedParts, host } = this.around;
    const seen = fixedParts.seen(user.agent, user.model);
    return seen ? { ...seen, plugins: host.plugins } : this.fixed;
  }

  /**
   * Makes a list fit that the binary did not prepare.
   * @param {Message[]} messages
   * @param {UserMessage} user
   * @param {Model | undefined} model
   * @param {boolean} planned whether the plan is applied
   * @returns {string} where the list was cut
   */
  #shrink(messages, user, model, planned) {
    const plan = planned ? this.plan : null;
    return fitMeasured(messages, {
      head: (plan?.head.length ?? 0) * 2,
      usable: this.#usable(user, model),
      measured: plan && this.measured?.planID === plan.id ? this.measured : null,
      cut: this.cut,
    });
  }

  /** @param {UserMessage} user */
  #save(user) {
    if (!this.plan) return;
    const fixed = this.#fixed(user);
    const state = [this.plan.id, this.applied, this.cut, fixed?.blocks, fixed?.plugins].join();
    if (state === this.saved) return;
    this.saved = state;
    const { plan, cut } = this;
    this.around.planFiles.save(this.id, { plan, applied: this.applied !== "", cut, fixed });
  }
}
