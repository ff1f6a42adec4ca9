// Background work: the ledger, and one job with its progress as it goes on.

import { fill, h } from "../client/base/dom.js";
import { actionButton } from "./admin_dialog.js";
import { READS } from "./admin_operations.js";
import { OTHER_ACTIONS } from "./admin_other_actions.js";
import { accountLink, announce, card, code, facts, fromNow, fromOutside, guildPlace, inZone, jobPlace, link, plain, progress, table, tag } from "./admin_parts.js";
import { go } from "./admin_places.js";
import { JOB_STATUSES, JOB_TYPES, inWords } from "./admin_registries.js";
import { ask, may } from "./admin_session.js";
import { polled } from "./admin_polling.js";
import { t, tn, translated } from "./spoken.js";

const LIMIT = 50;
/** @typedef {import("wire").Job} Job */

const BULK = /** @type {const} */ (["bulkFlags", "bulkFeatures", "bulkMembers", "bulkDeletions", "systemMessage"]);
const OVER = ["completed", "failed", "cancelled"];
const OFF = ["failed", "cancelled"];

export const isOver = (/** @type {Job} */ job) => OVER.includes(job.status);

/**
 * @param {import("./admin_places.js").Visit} visit
 * @returns {Promise<import("./admin_places.js").Shown>}
 */
export async function showJobs({ search, signal }) {
  const status = search.get("status") ?? "";
  const type = search.get("task_type") ?? "";
  const before = search.get("before") ?? "";
  const read = () => ask(READS.jobs, { query: { status, task_type: type, before, limit: LIMIT }, signal });
  const first = await read();
  const place = h("div", {}, jobsTable(first.jobs));
  // Only the page with what is going on is kept up to date.
  if (before === "") {
    const show = (/** @type {Job[]} */ jobs) => {
      if (!place.contains(document.activeElement)) fill(place, jobsTable(jobs));
    };
    void polled(
      first.jobs,
      async () => (await read()).jobs,
      show,
      { signal, isDone: () => false },
    );
  }
  const last = first.jobs.at(-1);
  return {
    title: t("Jobs"),
    content: [
      filter(status, type),
      ordering(),
      h("h2", { id: "results", class: "results", tabindex: "-1" }, status === "" ? t("All jobs") : inWords(status)),
      place,
      h(
        "nav",
        { class: "pager", "aria-label": t("Pages") },
        before === "" ? null : h("button", { type: "button", click: () => go("/admin/jobs", { status, task_type: type }) }, t("Newest")),
        first.jobs.length === LIMIT ? h("button", { type: "button", click: () => go("/admin/jobs", { status, task_type: type, before: last?.job_id }) }, t("Older")) : null,
      ),
    ],
  };
}

/**
 * @param {string} status
 * @param {string} type
 */
function filter(status, type) {
  /** @type {(id: string, label: string, value: string, options: string[]) => [HTMLSelectElement, HTMLElement]} */
  const select = (id, label, value, options) => {
    const element = h(
      "select",
      { id },
      [["", t("any")], ...options.map((one) => [one, inWords(one)])].map(([one, words]) => h("option", { value: one, selected: one === value }, words)),
    );
    return [element, h("div", { class: "field" }, h("label", { for: id }, label), element)];
  };
  const [states, stateField] = select("job-status", t("State"), status, JOB_STATUSES);
  const [types, typeField] = select("job-type", t("Kind"), type, JOB_TYPES);
  const change = () => go("/admin/jobs", { status: states.value, task_type: types.value });
  for (const element of [states, types]) element.addEventListener("change", change);
  return h("div", { class: "card search" }, stateField, typeField);
}

// Work for many accounts or guilds at once, as far as the caller may order it.
function ordering() {
  const buttons = BULK.filter((name) => may(OTHER_ACTIONS[name])).map((name) => {
    /** @type {import("./admin_dialog.js").Action<{}, never>} */
    const action = OTHER_ACTIONS[name];
    const then = (/** @type {{job_id: string}} */ { job_id: id }) => go(jobPlace(id));
    return actionButton(name, action, {}, then);
  });
  return buttons.length === 0 ? null : h("details", { class: "card" }, h("summary", {}, t("Order work for many at once")), h("div", { class: "buttons" }, buttons));
}

/** @param {Job[]} jobs */
export function jobsTable(jobs) {
  return table(
    t("Jobs"),
    [
      [t("Job"), (job) => link(jobPlace(job.job_id), inWords(job.task_type))],
      [t("State"), (job) => statusTag(job)],
      [t("Progress"), (job) => bar(job)],
      [t("Asked for"), (job) => job.requested_by_user_id ? tn("{time} by {account}", { time: inZone(job.created_at), account: accountLink(job.requested_by_user_id) }) : inZone(job.created_at)],
      [t("About"), (job) => subject(job)],
    ],
    jobs,
    { empty: t("There is no job.") },
  );
}

/** @param {Job} job */
function statusTag(job) {
  return tag(job.cancel_requested && !isOver(job) ? t("being cancelled") : translated(job.status), OFF.includes(job.status) ? "off" : "");
}

/** @param {Job} job */
function bar(job) {
  const { progress_current: done, progress_total: total } = job;
  if (total === null) return done === 0 && isOver(job) ? "–" : t("{done} done", { done });
  return h("span", { class: "progress" }, progress(done, Math.max(total, 1), t("Progress")), " ", t("{done} of {total}", { done, total }));
}

/** @param {Job} job */
function subject(job) {
  const [, kind, id] = /^\/admin\/(users|guilds)\/(\d+)$/.exec(job.context_link ?? "") ?? [];
  if (kind === undefined) return "–";
  return kind === "users" ? accountLink(id) : link(guildPlace(id), code(id));
}

/**
 * @param {import("./admin_places.js").Visit} visit
 * @returns {Promise<import("./admin_places.js").Shown>}
 */
export async function showJob({ params, signal }) {
  const job = await ask(READS.job, { params, signal });
  return { title: inWords(job.task_type), content: [followed(job, signal)] };
}

/**
 * A job that was just ordered, on the page where it was: as far as the caller may see it.
 * @param {string} jobId
 * @param {AbortSignal} signal
 */
export async function orderedJob(jobId, signal) {
  if (may(READS.job)) return followed(await ask(READS.job, { params: { job_id: jobId }, signal }), signal);
  if (may(READS.shred)) return followedShred(jobId, signal);
  return h("p", { class: "note" }, tn("The job has the ID {id}.", { id: code(jobId) }));
}

/**
 * @param {Job} job
 * @param {AbortSignal} signal
 */
function followed(job, signal) {
  const place = h("div", {}, drawn(job));
  const said = h("p", { class: "unseen", role: "status" });
  const read = () => ask(READS.job, { params: { job_id: job.job_id }, signal });
  const show = (/** @type {Job} */ now) => {
    const { activeElement: active } = document;
    const held = active instanceof HTMLElement && place.contains(active) ? active.dataset["action"] : null;
    fill(place, drawn(now));
    const next = /** @type {HTMLElement | null} */ (place.querySelector(`[data-action="${held}"]`) ?? place.querySelector("h2"));
    if (held) next?.focus();
    if (isOver(now)) said.textContent = t("The job is {status}.", { status: translated(now.status) });
  };
  if (!isOver(job)) void polled(job, read, show, { signal, isDone: isOver });
  return h("div", {}, place, said);
}

/**
 * @param {Job} job
 */
function drawn(job) {
  const then = (/** @type {Job} */ changed) => {
    announce(isOver(changed) ? t("The job is {status}.", { status: translated(changed.status) }) : t("The job ends before its next step."));
  };
  const cancel = isOver(job) || job.cancel_requested ? null : actionButton("cancelJob", OTHER_ACTIONS.cancelJob, { params: { job_id: job.job_id } }, then);
  return card(
    t("Job"),
    facts(
      [t("State"), statusTag(job)],
      [t("Progress"), bar(job)],
      [t("Says"), job.progress_message ? fromOutside(job.progress_message) : ""],
      job.error_message ? [t("Failed with"), h("span", { class: "field-error from-outside" }, job.error_message)] : null,
      [t("About"), subject(job)],
      [t("Asked for by"), accountLink(job.requested_by_user_id)],
      [t("Asked for"), inZone(job.created_at)],
      [t("Reason"), job.audit_log_reason ? h("span", { class: "reason from-outside" }, job.audit_log_reason) : ""],
      [t("Begun"), job.started_at ? inZone(job.started_at) : ""],
      [t("Ended"), job.completed_at ? inZone(job.completed_at) : ""],
      isOver(job) ? null : [t("Next step"), [inZone(job.run_at), ` (${fromNow(job.run_at)})`]],
      [t("Attempts"), t("{attempts} of {max_attempts}", { attempts: job.attempts, max_attempts: job.max_attempts })],
      [t("Job ID"), link(jobPlace(job.job_id), code(job.job_id))],
    ),
    more(t("What was asked for"), job.payload),
    more(t("What came of it"), job.result),
    cancel ? h("div", { class: "buttons" }, cancel) : null,
  );
}

/**
 * @param {string} words
 * @param {object | null} members
 */
function more(words, members) {
  const entries = Object.entries(members ?? {});
  if (entries.length === 0) return null;
  return h("details", {}, h("summary", {}, words), facts(...entries.map(([name, value]) => /** @type {const} */ ([inWords(name), h("span", { class: "from-outside" }, plain(value))]))));
}

/**
 * @param {string} jobId
 * @param {AbortSignal} signal
 */
async function followedShred(jobId, signal) {
  const read = () => ask(READS.shred, { params: { job_id: jobId }, signal });
  const place = h("div", {});
  const show = (/** @type {import("wire").MessageShred} */ state) =>
    fill(
      place,
      card(
        t("Job"),
        facts(
          [t("State"), tag(inWords(state.status))],
          state.total === undefined ? null : [t("Progress"), t("{processed} of {total}, {skipped} skipped", { processed: state.processed ?? 0, total: state.total, skipped: state.skipped ?? 0 })],
          state.error ? [t("Failed with"), fromOutside(state.error)] : null,
          [t("Job ID"), code(jobId)],
        ),
      ),
    );
  const first = await read();
  show(first);
  const isDone = (/** @type {import("wire").MessageShred} */ state) => state.status !== "in_progress";
  if (!isDone(first)) void polled(first, read, show, { signal, isDone });
  return place;
}
