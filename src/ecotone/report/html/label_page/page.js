"use strict";

// The labelling page: asks about one row at a time and sends each answer to the server that `ecotone label` runs on
// this computer. Text from the data only ever enters the page as text nodes and attributes, never as markup.

const POLL_MS = 2000; // how often the page asks for news while it is visible
const TIMEOUT_MS = 10000; // a request without an answer after this time counts as lost
const FINISH_MS = 1800000; // the same while the last model is fitted and the files are written
const LONGEST_WAIT_MS = 8000; // between two attempts to send the same answer
const UNREAD_MS = 250; // nobody reads a row faster: keys and clicks in this time were meant for the row before
const FIELDS_AT_FIRST = 24;
const FEW_CLASSES = 12; // more than this many get a filter box
const BELIEF_BARS = 5;
const LEVELS_SHOWN = 4;

const token = new URLSearchParams(location.search).get("token") ?? "";

const app = {
  state: null, // the last STATE of the server
  question: null, // the question on the screen
  pending: false, // an answer or an undo is on its way
  offline: false, // the server did not answer the last time
  unread: false, // the question has just appeared
  finished: false,
  allFields: false,
  actions: 0, // answers and undos so far: news that set out before one of them are old
  buttonsFor: "", // the classes that have buttons now
};

// ---------------------------------------------------------------------------------------------------------- elements

const byId = (id) => document.getElementById(id);

function fill(node, tag, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) if (value !== null) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/** An HTML element; strings among the children become text. */
const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), tag, attributes, children);

/** An SVG element. */
const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), tag, attributes, children);

/** Text for screen readers only. */
const unseen = (text) => el("span", { class: "unseen" }, text);

const keyCap = (key) => el("kbd", { "aria-hidden": "true" }, key);

function setText(id, text) {
  const node = byId(id);
  if (node.textContent !== text) node.textContent = text; // live regions repeat a text that is set again
}

// --------------------------------------------------------------------------------------------------- numbers in words

const number = (value) => String(Number(Number(value).toPrecision(4)));

function percent(share) {
  const value = 100 * share;
  if (value > 0 && value < 1) return "<1%";
  if (value > 99 && value < 100) return ">99%";
  return `${Math.round(value)}%`;
}

const plural = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;

function ordinal(value) {
  const tens = value % 100;
  const ending = tens >= 11 && tens <= 13 ? "th" : (["th", "st", "nd", "rd"][value % 10] ?? "th");
  return `${value}${ending}`;
}

function percentileText(percentile) {
  if (percentile <= 0) return "lowest";
  if (percentile >= 100) return "highest";
  return `${ordinal(Math.min(99, Math.max(1, Math.round(percentile))))} percentile`;
}

const isRegression = () => app.state.task === "regress";
const measureText = (value) => (app.state.progress.metric === "rmse" ? number(value) : percent(value));
const hasId = (row) => row.id !== null && row.id !== undefined && row.id !== "";
const rowNumber = (row) => row.row; // counted from 1, as in the file
const rowName = (row) => (hasId(row) ? String(row.id) : `Row ${rowNumber(row)}`);
const targetName = () => app.state.target.join(", ");

// ------------------------------------------------------------------------------------------------------------- server

/** No answer came, or the server itself failed: the same request may be sent again. */
class NoAnswer extends Error {}

/** The server understood the request and refused it. */
class Refused extends Error {
  constructor(status, answer) {
    super(answer?.error?.message ?? `The server refused the request (status ${status}).`);
    this.status = status;
    this.code = answer?.error?.code ?? "";
    this.state = answer?.state ?? null;
  }
}

function randomId() {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The id of this page; it survives a reload. */
function pageId() {
  const name = "ecotone-label-page";
  let id = sessionStorage.getItem(name);
  if (!id) sessionStorage.setItem(name, (id = randomId()));
  return id;
}

/** One request: its JSON answer, or NoAnswer or Refused. */
async function call(path, body) {
  const patience = path === "/api/finish" ? FINISH_MS : TIMEOUT_MS;
  const options = { headers: { "X-Token": token }, cache: "no-store", signal: AbortSignal.timeout(patience) };
  if (body) {
    options.method = "POST";
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  let response;
  let answer = null;
  try {
    response = await fetch(path, options);
    answer = await response.json();
  } catch (error) {
    if (!response || response.ok) throw new NoAnswer(""); // an answer cut short is no answer
  }
  if (response.status >= 500) throw new NoAnswer(answer?.error?.message ?? "");
  if (!response.ok) throw new Refused(response.status, answer);
  return answer;
}

/** Sends a request until the server answers, always with the same id, so that the server stores it once. */
async function deliver(path, body, lost) {
  for (let wait = 500; ; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
    try {
      const answer = await call(path, body);
      comeBack();
      return answer;
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      await pauseOffline(`${lost}${error.message ? ` (${error.message})` : ""}`, wait);
    }
  }
}

/** Shows that the server is away, until the time is up or the person asks for another attempt. */
function pauseOffline(text, milliseconds) {
  return new Promise((resume) => {
    goOffline(text, resume);
    setTimeout(resume, milliseconds);
  });
}

function goOffline(text, retry) {
  app.offline = true;
  const again = " If you have started the program again, open the address that it printed.";
  showBanner(`The server does not answer; ${text}${again}`, "Try now", retry);
  updateReady();
}

function comeBack() {
  if (!app.offline) return;
  app.offline = false;
  hideBanner();
  say("The server answers again.");
  updateReady();
}

function showBanner(text, action, run) {
  setText("banner-text", text);
  byId("banner-action").textContent = action;
  byId("banner-action").onclick = run;
  byId("banner").hidden = false;
}

function hideBanner() {
  byId("banner").hidden = true;
}

// ------------------------------------------------------------------------------------------------------------ actions

/** Whether an answer is taken now. */
const ready = () => !app.pending && !app.offline && !app.unread && !app.finished && app.question !== null;

/** Shows whether answers are taken. Buttons turn pale only if they are not for a while, not at every answer. */
function updateReady() {
  document.body.dataset.ready = ready() ? "yes" : "no";
  clearTimeout(updateReady.timer);
  const blocked = () => app.pending || app.offline;
  if (!blocked()) document.body.classList.remove("blocked");
  else updateReady.timer = setTimeout(() => document.body.classList.toggle("blocked", blocked()), 400);
}

/** Sends an answer or an undo, and shows the state that comes back. */
async function act(path, body, lost, saved) {
  app.pending = true;
  app.actions += 1;
  updateReady();
  try {
    const state = await deliver(path, { page: pageId(), request: randomId(), ...body }, lost);
    app.pending = false;
    hideBanner();
    say(saved);
    showState(state, true);
  } catch (error) {
    app.pending = false;
    refused(error);
  }
  updateReady();
}

function refused(error) {
  if (!(error instanceof Refused)) throw error;
  if (error.state) {
    say(
      error.code === "answered"
        ? "This row had already been answered in another window. Your answer was not stored."
        : error.message,
    );
    showState(error.state, true);
  } else if (error.status === 401 || error.status === 403) {
    app.offline = true;
    showBanner(
      "This address is no longer valid, so nothing can be saved here. Open the address that the program printed last.",
      "Try now",
      poll,
    );
  } else {
    showBanner(`Your last answer was not saved: ${error.message}`, "Close", hideBanner);
    poll(); // the row may no longer be this page's
  }
}

function answer(kind, label) {
  if (!ready()) return;
  const row = app.question;
  const said = kind === "label" ? `“${label}”` : `“${kind}”`;
  const body = { row: row.row, kind };
  if (kind === "label") body.label = label;
  const lost = `your last label, ${said} for ${rowName(row)}, was not saved yet and will be sent again.`;
  act("/api/answer", body, lost, `Saved ${said} for ${rowName(row)}.`);
}

function undo() {
  if (app.pending || app.offline || app.finished || !app.state?.undo) return;
  act("/api/undo", {}, "your last undo was not saved yet and will be sent again.", "Undone: the row is back.");
}

/** What the space key accepts: the most probable class or the believed value, as shown; null if none is shown. */
function shownBelief() {
  const question = app.question;
  if (!question || question.audit || !question.belief) return null;
  if (isRegression()) return Number(number(question.belief.value));
  return mostProbable(question.belief)[0]?.class ?? null;
}

function accept() {
  const belief = shownBelief();
  if (belief !== null) answer("label", belief);
}

async function finish() {
  if (app.pending || app.finished) return;
  byId("finish").close();
  app.pending = true;
  app.actions += 1;
  updateReady();
  try {
    const done = await deliver(
      "/api/finish",
      { page: pageId() },
      "the files are perhaps not written yet; the page will ask again.",
    );
    showFinished(done.files, done.model_error);
  } catch (error) {
    refused(error);
  }
  app.pending = false;
  updateReady();
}

/** A short message beside the answers, read aloud by screen readers. */
function say(text) {
  setText("status", text);
}

// -------------------------------------------------------------------------------------------------------------- state

/**
 * Shows a state. After an answer the question is always new; news only replace it when the server has another one for
 * this page, which means that the row was answered elsewhere.
 */
function showState(state, always) {
  const before = app.question;
  app.state = state;
  if (state.finished) return showFinished(null);
  showTask();
  showProgress();
  if (always || before?.row !== state.question?.row) {
    if (!always && before) say(`${rowName(before)} was answered in another window.`);
    app.question = state.question;
    showQuestion();
  }
  byId("undo").disabled = !state.undo;
  updateReady();
}

function showTask() {
  const { state } = app;
  setText("task", `Label “${state.label}” in ${targetName()}`);
  document.title = `${state.progress.labels} of ${state.progress.budget} · Label ${state.label} · ecotone`;
}

/** Asks for news, but not while an answer is under way or while nobody looks. */
async function poll() {
  if (poll.running || app.pending || app.finished || document.hidden) return;
  poll.running = true;
  const actions = app.actions;
  try {
    const state = await call(`/api/state?page=${pageId()}`);
    if (actions === app.actions) {
      comeBack();
      showState(state, app.state === null);
    }
  } catch (error) {
    if (actions === app.actions) lostPoll(error);
  }
  poll.running = false;
}

function lostPoll(error) {
  if (error instanceof NoAnswer)
    goOffline(app.actions ? "your last label was saved." : "everything that you answered before is saved.", poll);
  else refused(error);
}

// ----------------------------------------------------------------------------------------------------------- question

function showQuestion() {
  const { question } = app;
  byId("work").classList.toggle("nothing", question === null);
  byId("facts").hidden = question === null;
  byId("picture").hidden = !question?.image;
  showButtons();
  byId("question").dataset.row = question ? question.row : "";
  if (question) showRow(question);
  else showNoRow();
  markUnread();
  startAtTop();
}

function showRow(question) {
  byId("row-title").replaceChildren(rowName(question), el("small", {}, aboutRow(question)));
  setText("reason", question.reason);
  setText("announce", `New row: ${rowName(question)}, ${question.domain}. ${question.reason}`);
  const before =
    question.answered === null || question.answered === undefined ? "" : `Your answer was “${question.answered}”.`;
  setText("before", before);
  byId("before").hidden = before === "";
  showBelief(question);
  showPicture(question);
  setText("facts-title", question.audit ? "This row" : "This row and its nearest labelled rows");
  showFacts(question);
}

function aboutRow(question) {
  const row = hasId(question) ? `row ${rowNumber(question)}, ` : "";
  return `${row}${app.state.domain_word} ${question.domain}`;
}

function showNoRow() {
  const { labels, budget, advice } = app.state.progress;
  const title = labels >= budget ? `All ${plural(budget, "label")} are given` : "There is no row left to label";
  setText("row-title", title);
  setText("reason", "Finish writes the files. To give more labels, start the program again with a larger --budget.");
  setText("announce", `${title}. ${advice}`);
  byId("before").hidden = true;
}

/** Answers given before the row can have been read are ignored: they are double clicks and held keys. */
function markUnread() {
  app.unread = true;
  clearTimeout(markUnread.timer);
  markUnread.timer = setTimeout(() => {
    app.unread = false;
    updateReady();
  }, UNREAD_MS);
}

function startAtTop() {
  focusRow();
  if (byId("work").getBoundingClientRect().top < 0) window.scrollTo(0, 0);
}

/** Takes the focus off the button just used, so that the space key means the belief again. */
function focusRow() {
  // On a phone the focus of the number field would open the keyboard over the row.
  const typing = isRegression() && app.question && !matchMedia("(pointer: coarse)").matches;
  byId(typing ? "number" : "row-title")?.focus({ preventScroll: true });
}

function showPicture(question) {
  if (!question.image) return byId("picture").replaceChildren();
  const address = `/api/image?row=${encodeURIComponent(question.row)}&token=${encodeURIComponent(token)}`;
  byId("picture").replaceChildren(el("img", { src: address, alt: `Picture of ${rowName(question)}` }));
}

// ------------------------------------------------------------------------------------------------------------- belief

const mostProbable = (belief) => [...belief].sort((a, b) => b.probability - a.probability);

function showBelief(question) {
  const box = byId("belief-bars");
  const shown = !question.audit && question.belief;
  // The room stays the same with and without a belief, so that nothing below moves.
  box.dataset.rows = isRegression() ? 1 : Math.min(app.state.classes.length, BELIEF_BARS + 1);
  if (!shown) box.replaceChildren(el("p", { class: "note" }, noBelief(question)));
  else if (isRegression()) box.replaceChildren(believedValue(question.belief));
  else box.replaceChildren(...beliefBars(question.belief));
}

const noBelief = (question) =>
  question.audit
    ? "Not shown for this row, so that the answer is your own."
    : "None yet: the model needs a few labels first.";

/** One bar per class in the order of the buttons; of many classes the most probable ones. */
function beliefBars(belief) {
  const best = mostProbable(belief);
  const many = belief.length > BELIEF_BARS + 1;
  const bars = (many ? best.slice(0, BELIEF_BARS) : belief).map((one) =>
    beliefBar(one.class, one.probability, one === best[0]),
  );
  if (many) {
    const rest = best.slice(BELIEF_BARS);
    bars.push(
      beliefBar(
        `${rest.length} others`,
        rest.reduce((sum, one) => sum + one.probability, 0),
        false,
      ),
    );
  }
  return bars;
}

function beliefBar(name, probability, first) {
  const bar = el("i");
  bar.style.width = `${100 * probability}%`;
  const line = el("div", { class: first ? "belief-bar first" : "belief-bar" });
  line.append(
    el("span", { class: "belief-name", title: name }, name),
    el("span", { class: "track", "aria-hidden": "true" }, bar),
  );
  line.append(el("span", { class: "figure" }, percent(probability)));
  return line;
}

function believedValue({ value, sd }) {
  const spread = sd === null || sd === undefined ? "" : ` give or take ${number(sd)}`;
  return el("p", { class: "believed" }, el("strong", {}, number(value)), spread);
}

// --------------------------------------------------------------------------------------------- fields and neighbours

function showFacts(question) {
  const neighbours = sortedNeighbours(question);
  const count = app.allFields ? question.fields.length : Math.min(question.fields.length, FIELDS_AT_FIRST);
  byId("facts-scroll").replaceChildren(factsTable(question, neighbours, count));
  byId("legend").replaceChildren(...legend(question, neighbours));
  byId("near-cards").replaceChildren(...nearCards(question, neighbours));
  byId("all-fields").hidden = question.fields.length <= FIELDS_AT_FIRST;
  setText("all-fields", app.allFields ? "Show fewer fields" : `Show all ${question.fields.length} fields`);
}

/** The target's neighbours first. */
const sortedNeighbours = (question) =>
  ["target", "source"].flatMap((side) => question.neighbours.filter((neighbour) => neighbour.side === side));

function legend(question, neighbours) {
  const parts = [
    el("i", { class: "sign-bar" }),
    `${question.domain}, `,
    el("i", { class: "sign-line" }),
    "the sources, ",
    el("i", { class: "sign-here" }),
    "this row",
  ];
  if (neighbours.length) parts.push("; ", el("b", {}, "≠"), " differs from it, = is the same");
  return [...parts, "."];
}

// On a phone the table is laid out as blocks, which would make browsers forget that it is a table: hence the roles.

function factsTable(question, neighbours, count) {
  const table = el("table", { role: "table", "aria-labelledby": "facts-title" }, factsHead(question, neighbours));
  table.style.setProperty("--neighbours", neighbours.length);
  for (const [title, indices] of fieldGroups(question, count)) {
    const body = el("tbody", { role: "rowgroup" });
    if (title) body.append(groupRow(title, 3 + neighbours.length));
    for (const i of indices) body.append(fieldRow(question, neighbours, i));
    table.append(body);
  }
  return table;
}

/** The fields that moved the belief, then the others; one group where no belief is shown. */
function fieldGroups(question, count) {
  const all = question.fields.slice(0, count).map((field, i) => i);
  const important = question.audit ? [] : all.filter((i) => question.fields[i].important);
  const rest = all.filter((i) => !important.includes(i));
  if (!important.length || !rest.length) return [["", all]];
  return [
    ["Moved the belief most", important],
    ["Other fields", rest],
  ];
}

function groupRow(title, columns) {
  return el(
    "tr",
    { class: "group", role: "row" },
    el("th", { scope: "rowgroup", role: "rowheader", colspan: columns }, title),
  );
}

function factsHead(question, neighbours) {
  const head = (text, name) =>
    el("th", { scope: "col", role: "columnheader", class: name, rowspan: neighbours.length ? 2 : 1 }, text);
  const row = el(
    "tr",
    { role: "row" },
    head("Field", "name"),
    head("This row", "value"),
    head(`In ${question.domain}`, "spread"),
  );
  row.append(...sideHeads(neighbours));
  const labels = el(
    "tr",
    { role: "row" },
    ...neighbours.map((neighbour, i) => neighbourHead(neighbour, startsSide(neighbours, i))),
  );
  return el("thead", { role: "rowgroup" }, row, neighbours.length ? labels : "");
}

/** One head over the neighbours of each side. */
function sideHeads(neighbours) {
  const titles = { target: `Labelled in ${targetName()}`, source: "Labelled in the sources" };
  return Object.entries(titles).flatMap(([side, title]) => {
    const count = neighbours.filter((neighbour) => neighbour.side === side).length;
    return count
      ? [el("th", { scope: "colgroup", role: "columnheader", class: "side starts", colspan: count }, title)]
      : [];
  });
}

const startsSide = (neighbours, i) => i === 0 || neighbours[i].side !== neighbours[i - 1].side;

function neighbourHead(neighbour, starts) {
  const head = el("th", {
    scope: "col",
    role: "columnheader",
    class: starts ? "near starts" : "near",
    title: rowName(neighbour),
  });
  head.append(el("b", {}, neighbour.label));
  const named = neighbour.side === "target" && app.state.target.length === 1; // by the head over it
  if (!named) head.append(el("small", { title: neighbour.domain }, unseen("in "), neighbour.domain));
  return head;
}

function fieldRow(question, neighbours, i) {
  const field = question.fields[i];
  const row = el("tr", { role: "row" });
  row.append(el("th", { scope: "row", role: "rowheader", class: "name" }, ...breakable(field.name)));
  row.append(el("td", { role: "cell", class: "value" }, ...valueNodes(field)));
  row.append(el("td", { role: "cell", class: "spread" }, ...spreadNodes(question, field)));
  for (const [n, neighbour] of neighbours.entries())
    row.append(neighbourCell(field, neighbour.fields[i], startsSide(neighbours, n)));
  return row;
}

/** Text that may break after an underscore. */
const breakable = (text) => text.split(/(?<=_)(?=[^_])/).flatMap((part, i) => (i ? [el("wbr"), part] : [part]));

function valueNodes(field) {
  if (field.missing) return [el("em", {}, "missing")];
  const value = el(
    "strong",
    { title: field.value, class: field.levels ? "text" : null },
    field.value === "" ? "(empty)" : field.value,
  );
  const known = field.percentile !== null && field.percentile !== undefined;
  return known ? [value, el("small", {}, percentileText(field.percentile))] : [value];
}

/** A neighbour's value: in full if it differs or is only close, "=" if it is the same. */
function neighbourCell(field, there, starts) {
  const cell = el("td", { role: "cell", class: starts ? "near starts" : "near" });
  const value = there === undefined || there.value === null || there.value === "" ? "–" : there.value;
  if (there?.differs) cell.append(difference(value));
  else if (!field.missing && value === field.value)
    cell.append(el("span", { "aria-hidden": "true", title: value }, "="), unseen(`same: ${value}`));
  else cell.append(el("span", { title: value }, value));
  return cell;
}

const difference = (value) =>
  el(
    "span",
    { class: "differs", title: value },
    el("span", { "aria-hidden": "true" }, "≠\u2009"),
    unseen("differs: "),
    ...breakable(value),
  );

/** The value against its domain: a histogram for numbers, a list of levels for text. */
function spreadNodes(question, field) {
  if (field.histogram) return [histogram(question, field)];
  return field.levels ? [levelList(question, field.levels)] : [];
}

function histogram(question, field) {
  const { low, high, domain, sources, bin } = field.histogram;
  const width = 168,
    height = 32,
    top = 7; // the mark of this row sits above the bars
  const step = width / domain.length;
  const most = Math.max(...domain, ...(sources ?? []), 1e-9);
  const y = (share) => height - 0.5 - (share / most) * (height - top - 0.5);
  const picture = svg("svg", {
    viewBox: `0 0 ${width} ${height}`,
    class: "histogram",
    role: "img",
    "aria-label": histogramText(question, field),
  });
  domain.forEach((share, i) => {
    // Bars that are not empty are at least a hair high, and so is the bar of this row.
    const bar = share > 0 || i === bin ? Math.min(y(share), height - 1.5) : height;
    picture.append(
      svg("rect", {
        x: i * step + 0.5,
        y: bar,
        width: Math.max(step - 1, 0.5),
        height: height - bar,
        class: i === bin ? "here" : "bar",
      }),
    );
  });
  if (sources) picture.append(svg("path", { d: outline(sources, step, y), class: "outline" }));
  picture.append(svg("path", { d: `M0 ${height - 0.25}H${width}`, class: "base" }));
  if (bin !== null && bin !== undefined) {
    const x = (bin + 0.5) * step,
      tip = Math.max(Math.min(y(domain[bin]), height - 1.5) - 1, top - 1);
    picture.append(svg("path", { d: `M${x - 4} ${tip - 5.5}h8l-4 5.5z`, class: "mark" }));
  }
  picture.append(svg("title", {}, `${number(low)} to ${number(high)}`));
  return picture;
}

/** The tops of bars as one line. */
const outline = (shares, step, y) =>
  shares.map((share, i) => `${i ? "L" : "M"}${i * step} ${y(share)}H${(i + 1) * step}`).join("");

function histogramText(question, { name, histogram: { low, high, domain, bin } }) {
  const edge = (i) => number(low + ((high - low) * i) / domain.length);
  const range = `Distribution of ${name} in ${question.domain}, from ${number(low)} to ${number(high)}`;
  if (bin === null || bin === undefined) return `${range}.`;
  const bar = `from ${edge(bin)} to ${edge(bin + 1)}, with ${percent(domain[bin])} of the rows`;
  return `${range}. This row is in the bar ${bar}.`;
}

function levelList(question, levels) {
  const shown = levels.length <= LEVELS_SHOWN ? levels : someLevels(levels);
  const list = el("ul", { class: "levels" }, ...shown.map((level) => levelLine(question, level)));
  const more = levels.length - shown.length;
  if (more) list.append(el("li", { class: "more" }, `and ${more} more`));
  return list;
}

/** The first few levels, and the one of this row. */
function someLevels(levels) {
  const first = levels.slice(0, LEVELS_SHOWN - 1);
  const here = levels.find((level) => level.here);
  return here && !first.includes(here) ? [...first.slice(0, -1), here] : first;
}

function levelLine(question, { level, domain, sources, here }) {
  const bar = el("i"),
    source = el("b");
  bar.style.width = `${100 * domain}%`;
  const line = el(
    "li",
    { class: here ? "here" : null },
    el("span", { class: "level-name", title: level }, here ? unseen("this row: ") : "", level),
  );
  const track = el("span", { class: "track", "aria-hidden": "true" }, bar);
  if (sources !== null && sources !== undefined) {
    source.style.left = `${100 * sources}%`;
    track.append(source);
  }
  const inSources = sources === null || sources === undefined ? "" : `, ${percent(sources)} in the sources`;
  line.append(track, el("span", { class: "figure" }, percent(domain), unseen(` in ${question.domain}${inSources}`)));
  return line;
}

/** The neighbours for narrow screens, where the table has no room for them: what differs, in words. */
function nearCards(question, neighbours) {
  if (!neighbours.length) return [];
  return [el("h3", {}, "Nearest labelled rows"), ...neighbours.map((neighbour) => nearCard(question, neighbour))];
}

function nearCard(question, neighbour) {
  const differing = question.fields
    .map((field, i) => [field, neighbour.fields[i]])
    .filter(([, there]) => there?.differs);
  const card = el("article", { class: "near-card" });
  card.append(
    el(
      "h4",
      {},
      el("b", {}, neighbour.label),
      el("small", {}, `${neighbour.side}, ${neighbour.domain}, ${rowName(neighbour)}`),
    ),
  );
  const list = el("ul");
  for (const [field, there] of differing.slice(0, FIELDS_AT_FIRST)) list.append(differenceLine(field, there));
  const same = question.fields.length - differing.length;
  card.append(
    list,
    el("p", { class: "note" }, differing.length ? `${plural(same, "other field")} alike.` : "All fields are alike."),
  );
  return card;
}

function differenceLine(field, there) {
  const here = field.missing ? "missing" : field.value;
  return el("li", {}, `${field.name} `, difference(there.value || "–"), el("small", {}, ` here ${here}`));
}

// ------------------------------------------------------------------------------------------------------------ answers

/** The key of each class: its own name if all names are digits, otherwise its place from 1 to 9. */
function classKeys(classes) {
  if (classes.every((name) => /^[0-9]$/.test(name))) return [...classes];
  return classes.map((name, i) => (i < 9 ? String(i + 1) : ""));
}

/** Builds the buttons once; they only change when the classes do. */
function showButtons() {
  const { state } = app;
  setText("ask", `${isRegression() ? "The value of " : ""}“${state.label}” for this row`);
  byId("number-form").hidden = !isRegression();
  byId("classes").hidden = isRegression();
  byId("filter-box").hidden = isRegression() || state.classes.length <= FEW_CLASSES;
  if (!isRegression()) showClassButtons(state.classes);
  byId("number").value = "";
  numberProblem("");
  setText("number-label", state.label);
  showAccept();
  showHelpKeys(classKeys(state.classes ?? []));
  for (const button of document.querySelectorAll("#classes button, #number-form button, #unsure, #skip"))
    button.disabled = !app.question;
  byId("number").disabled = !app.question;
}

function showClassButtons(classes) {
  const signature = JSON.stringify(classes);
  if (signature !== app.buttonsFor) {
    app.buttonsFor = signature;
    const keys = classKeys(classes);
    byId("classes").replaceChildren(...classes.map((name, i) => classButton(name, keys[i])));
    byId("classes").classList.toggle("many", classes.length > FEW_CLASSES);
  }
  byId("filter").value = "";
  filterClasses();
  for (const button of byId("classes").children) markBefore(button);
}

function classButton(name, key) {
  const button = el("button", { type: "button", class: "class", "aria-keyshortcuts": key || null, title: name });
  button.append(el("span", { class: "class-name" }, name));
  if (key) button.append(keyCap(key));
  button.dataset.class = name;
  button.dataset.key = key;
  button.addEventListener("click", () => answer("label", name));
  return button;
}

/** After an undo: which class had been chosen. */
function markBefore(button) {
  const before = app.question?.answered === button.dataset.class;
  button.classList.toggle("before", before);
  if (before) button.setAttribute("aria-description", "your answer before the undo");
  else button.removeAttribute("aria-description");
}

function showAccept() {
  const belief = shownBelief();
  byId("accept").disabled = belief === null;
  const none = app.question?.audit ? "Belief hidden" : "No belief yet";
  setText("accept-text", belief === null ? none : `Accept “${belief}”`);
  byId("accept").title = belief === null ? "" : String(belief);
}

function filterClasses() {
  const wanted = byId("filter").value.trim().toLowerCase();
  for (const button of byId("classes").children) button.hidden = !button.dataset.class.toLowerCase().includes(wanted);
}

/** Enter in the filter box chooses the class if a single one is left. */
function chooseFiltered() {
  const left = [...byId("classes").children].filter((button) => !button.hidden);
  if (left.length === 1) answer("label", left[0].dataset.class);
  else say(left.length ? "Type more, until one class is left." : "No class has this text.");
}

function sendNumber(event) {
  event.preventDefault();
  const text = byId("number").value.trim();
  if (text === "") return numberProblem("Type a number first.");
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) || !Number.isFinite(Number(text)))
    return numberProblem("This is not a number. Write it such as 3.5, with a point.");
  numberProblem("");
  answer("label", Number(text));
}

function numberProblem(text) {
  setText("number-problem", text);
  byId("number").setAttribute("aria-invalid", text ? "true" : "false");
}

// ----------------------------------------------------------------------------------------------------------- progress

function showProgress() {
  const { progress } = app.state;
  const counted = `${progress.labels} of ${progress.budget} labels`;
  setText("short-progress", counted);
  byId("count").replaceChildren(el("strong", {}, String(progress.labels)), ` of ${progress.budget} labels`);
  byId("track-fill").style.width = `${Math.min(100, (100 * progress.labels) / Math.max(1, progress.budget))}%`;
  setText(
    "counts",
    `${progress.audits} on audit\u00a0rows · ${progress.unsure}\u00a0unsure · ${progress.skipped}\u00a0skipped`,
  );
  setText(
    "estimate-title",
    progress.metric === "rmse" ? `Error (RMSE) in ${targetName()}` : `Accuracy in ${targetName()}`,
  );
  showEstimate(progress.estimate);
  showCurve(progress.curve);
  byId("stop-sign").hidden = !progress.may_stop;
  byId("advice-box").classList.toggle("may-stop", progress.may_stop);
  setText("advice", progress.advice);
  setText("learning", learningText(progress));
}

function showEstimate(estimate) {
  if (!estimate)
    return setText("estimate", "Not known yet. It is measured on audit rows, which come among the others.");
  const { value, low, high, rows } = estimate;
  const from = measureText(low).replace(/^([0-9]+)%$/, "$1"); // 50 to 88%
  const words = `, 90% interval ${from} to ${measureText(high)}, from ${plural(rows, "audit row")}`;
  const text = byId("estimate");
  if (text.textContent !== measureText(value) + words)
    text.replaceChildren(el("strong", {}, measureText(value)), words);
}

function learningText(progress) {
  if (progress.fitting) return "The model is learning from your latest labels.";
  return progress.model_labels
    ? `The model has learned from ${plural(progress.model_labels, "label")}.`
    : "The model has not learned from your labels yet.";
}

// The learning curve: a line with a band, drawn again only when it has changed.

function showCurve(curve) {
  const signature = JSON.stringify(curve);
  if (signature === showCurve.drawn) return;
  showCurve.drawn = signature;
  if (curve.length) byId("curve").replaceChildren(curvePicture(curve));
  else
    byId("curve").replaceChildren(el("p", { class: "note" }, "The learning curve appears after the first audit rows."));
}

const bounds = (point) => [point.low ?? point.value, point.high ?? point.value];

/** The scales of the curve: labels to x, values to y. */
function curveScales(curve, frame) {
  const isShare = app.state.progress.metric !== "rmse";
  const lows = curve.map((point) => bounds(point)[0]),
    highs = curve.map((point) => bounds(point)[1]);
  const low = isShare ? Math.max(0, Math.floor(Math.min(...lows) * 5) / 5) : 0;
  const high = isShare ? 1 : Math.max(...highs, 1e-9) * 1.05;
  const last = Math.max(...curve.map((point) => point.labels), 1);
  return {
    low,
    high,
    last,
    x: (labels) => frame.left + ((frame.right - frame.left) * labels) / last,
    y: (value) => frame.bottom - ((frame.bottom - frame.top) * (value - low)) / (high - low || 1),
  };
}

function curvePicture(curve) {
  const frame = { left: 34, right: 270, top: 8, bottom: 100 };
  const scales = curveScales(curve, frame);
  const at = (labels, value) => `${scales.x(labels).toFixed(1)} ${scales.y(value).toFixed(1)}`;
  const line = curve.map((point) => at(point.labels, point.value));
  const upper = curve.map((point) => at(point.labels, bounds(point)[1]));
  const lower = curve.map((point) => at(point.labels, bounds(point)[0])).reverse();
  const picture = svg("svg", { viewBox: "0 0 280 118", class: "curve", role: "img", "aria-label": curveText(curve) });
  picture.append(...curveAxes(scales, frame));
  picture.append(
    svg("path", { d: `M${[...upper, ...lower].join("L")}Z`, class: "band" }),
    svg("path", { d: `M${line.join("L")}`, class: "line" }),
  );
  const end = curve.at(-1);
  picture.append(svg("circle", { cx: scales.x(end.labels), cy: scales.y(end.value), r: 3.5, class: "end" }));
  return picture;
}

const axisText = (value) =>
  app.state.progress.metric === "rmse"
    ? new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 2 }).format(value)
    : percent(value);

function curveAxes(scales, frame) {
  const parts = [];
  for (const value of [scales.low, (scales.low + scales.high) / 2, scales.high]) {
    const y = scales.y(value);
    parts.push(svg("path", { d: `M${frame.left} ${y}H${frame.right}`, class: "grid" }));
    parts.push(svg("text", { x: frame.left - 5, y: y + 3.5, "text-anchor": "end" }, axisText(value)));
  }
  parts.push(svg("text", { x: frame.left, y: frame.bottom + 14 }, "0"));
  parts.push(svg("text", { x: frame.right, y: frame.bottom + 14, "text-anchor": "end" }, `${scales.last} labels`));
  return parts;
}

function curveText(curve) {
  const name = app.state.progress.metric === "rmse" ? "RMSE" : "accuracy";
  const points =
    curve.length > 6
      ? [curve[0], ...curve.slice(1, -1).filter((_, i) => i % Math.ceil(curve.length / 4) === 0), curve.at(-1)]
      : curve;
  const words = points.map((point) => {
    const [low, high] = bounds(point);
    const interval = `${measureText(low)} to ${measureText(high)}`;
    return `${measureText(point.value)} (${interval}) with ${plural(point.labels, "label")}`;
  });
  return `Learning curve, ${name} with its 90% interval: ${words.join(", ")}.`;
}

// ------------------------------------------------------------------------------------------------- help and the finish

function showHelpKeys(keys) {
  const named = keys.filter((key) => key !== "");
  const lines = [
    [
      isRegression() ? "Enter" : `${named[0]}–${named.at(-1)}`,
      isRegression() ? "send the number that you typed" : "choose a class",
    ],
    ["space", "accept the model’s belief, where it is shown"],
    ["u", "unsure: you looked, and cannot tell"],
    ["s", "skip: put the row aside"],
    ["z", "undo the last answer, as often as you like"],
    ["?", "this help"],
  ];
  if (isRegression()) lines.push(["Esc", "leave the number field; the other keys also work while it is empty"]);
  if (!isRegression() && keys.length > FEW_CLASSES)
    lines.push(["f", "find a class by its name; Enter chooses it when it is the only one left"]);
  byId("help-keys").replaceChildren(
    ...lines.flatMap(([key, text]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, text)]),
  );
}

function openDialog(id) {
  if (document.querySelector("dialog[open]") || app.finished) return;
  byId(id).showModal();
}

function askToFinish() {
  if (!app.state) return;
  const { progress, folder } = app.state;
  setText(
    "finish-text",
    `${plural(progress.labels, "label")} will be written to the folder ${folder}, and the program will end. ` +
      "The same command starts again where you stopped.",
  );
  openDialog("finish");
}

/** The last view: which files were written, if this page asked for them. */
function showFinished(files, modelError) {
  app.finished = true;
  app.question = null;
  hideBanner();
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  const title = el("h2", { id: "done-title", tabindex: "-1" }, "Finished");
  const section = el("section", { class: "done", "aria-labelledby": "done-title" }, title);
  if (files?.length)
    section.append(
      el("p", {}, "The program has written these files and has ended:"),
      el("ul", {}, ...files.map((file) => el("li", {}, el("code", {}, file)))),
      ...(modelError ? [el("p", {}, `There is no model: ${modelError}`)] : []),
    );
  else
    section.append(
      el("p", {}, `Labelling was finished. The files are in the folder ${app.state?.folder ?? "of the labels"}.`),
    );
  section.append(
    el("p", { class: "note" }, "You can close this page. To label more rows, run the same command again."),
  );
  document.querySelector("main").replaceChildren(section);
  byId("answer").hidden = byId("open-help").hidden = true;
  setText("announce", "Finished.");
  title.focus();
}

// --------------------------------------------------------------------------------------------------------------- keys

/** The character of a key: digits also where they need Shift, letters also on keyboards that are not Latin. */
function character(event) {
  const digit = /^Digit([0-9])$/.exec(event.code);
  if (digit && !event.shiftKey) return digit[1];
  const letter = /^Key([A-Z])$/.exec(event.code);
  if (letter && event.key.length === 1 && event.key > "~") return letter[1].toLowerCase();
  return event.key.length === 1 ? event.key.toLowerCase() : event.key;
}

const commands = {
  " ": accept,
  u: () => answer("unsure"),
  s: () => answer("skip"),
  z: undo,
  f: () => byId("filter").focus(),
  "?": () => openDialog("help"),
};

/** What a key does now, or null. */
function commandOf(key) {
  if (key === "f" && byId("filter-box").hidden) return null;
  if (Object.hasOwn(commands, key)) return commands[key];
  if (isRegression()) return null;
  const button = [...byId("classes").children].find((one) => one.dataset.key === key);
  return button ? () => answer("label", button.dataset.class) : null;
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (!app.state || app.finished || document.querySelector("dialog[open]")) return;
  const key = character(event);
  if (event.target === byId("filter")) return onFilterKey(event, key);
  if (event.target === byId("number") && !leavesNumber(event, key)) return;
  if ((key === " " || key === "Enter") && event.target.closest("button, a")) return; // the button that has the focus
  if (isRegression() && /^[-+.0-9]$/.test(key)) return byId("number").focus(); // the digit lands in the field
  const command = commandOf(key);
  if (!command) return;
  event.preventDefault(); // the space key must not scroll
  if (!event.repeat) command();
}

/** Whether a key pressed in the number field is a command: only while the field is empty. */
function leavesNumber(event, key) {
  if (key === "Escape") byId("number").blur();
  return byId("number").value === "" && /^[usz? ]$/.test(key);
}

function onFilterKey(event, key) {
  if (key === "Enter" && !event.repeat) chooseFiltered();
  if (key !== "Escape") return;
  byId("filter").value = "";
  filterClasses();
  focusRow();
}

// -------------------------------------------------------------------------------------------------------------- start

function start() {
  document.addEventListener("keydown", onKey);
  byId("accept").addEventListener("click", accept);
  byId("unsure").addEventListener("click", () => answer("unsure"));
  byId("skip").addEventListener("click", () => answer("skip"));
  byId("undo").addEventListener("click", undo);
  byId("filter").addEventListener("input", filterClasses);
  byId("number-form").addEventListener("submit", sendNumber);
  byId("number").addEventListener("input", () => numberProblem(""));
  byId("open-help").addEventListener("click", () => openDialog("help"));
  byId("close-help").addEventListener("click", () => byId("help").close());
  byId("open-finish").addEventListener("click", askToFinish);
  byId("cancel-finish").addEventListener("click", () => byId("finish").close());
  byId("confirm-finish").addEventListener("click", finish);
  // A closed dialog gives the focus back to its button, where the space key would open it again.
  for (const dialog of document.querySelectorAll("dialog")) dialog.addEventListener("close", focusRow);
  byId("all-fields").addEventListener("click", () => {
    app.allFields = !app.allFields;
    showFacts(app.question);
  });
  document.addEventListener("visibilitychange", poll);
  setInterval(poll, POLL_MS);
  poll();
}

start();
