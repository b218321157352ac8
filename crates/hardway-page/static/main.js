// The page: which view is shown, at which moment, and what is drawn again when.
import { clock, dateAndClock, duration } from "./format.js";
import { el, show, section, none } from "./dom.js";
import { Fold, rows, phaseState } from "./fold.js";
import { setExplanations, explained, isExplained, openTexts } from "./explain.js";
import { errorTexts, phasesSection } from "./phases.js";
import { hostsSection } from "./hosts.js";
import { apiNote, etcdSection, findingsSection, logsSection, operatorsSection, requestsSection, workersSection } from "./cluster.js";
import { networkSection } from "./network.js";
import { certificatesSection, assetsSection } from "./files.js";
import { recorded, fetched, follow } from "./source.js";

const VIEWS = [
  ["Install", (view) => [problems(view), findingsSection(view), phasesSection(view), hostsSection(view), workersSection(view), eventsSection(view)]],
  ["Cluster", (view) => [apiNote(view), etcdSection(view), operatorsSection(view), requestsSection(view), logsSection(view)]],
  ["Network", (view) => [networkSection(view)]],
  ["Certificates", (view) => [certificatesSection(view)]],
  ["Assets", (view) => [assetsSection(view)]],
];
// Of the moments so far; all of them can be reached with the slider.
const SHOWN_MOMENTS = 60;

const page = {
  document: null,
  fold: null,
  name: VIEWS[0][0],
  // How many moments count; null is all there are, and those that come.
  count: null,
  // Until the moments so far have come, nothing can be said of them.
  isThere: false,
  isAtWork: false,
  // How the cluster and its machines are now, where somebody looks.
  seen: null,
  isLost: false,
  isRecorded: false,
  playing: null,
};

// A link may lead to a view and to a line of the journal: #view=Cluster&line=120.
const place = new URLSearchParams(globalThis.location.hash.slice(1));
let wantedLine = place.has("line") ? Number(place.get("line")) : null;

const find = (id) => document.getElementById(id);

function current() {
  const { fold } = page;
  const isNow = page.count === null;
  const count = isNow ? fold.length : page.count;
  const last = fold.times[Math.max(0, count - 1)] ?? Date.now();
  // While somebody is at work, time goes on after the last moment.
  const now = isNow && page.isAtWork ? Math.max(last, Date.now()) : page.playing?.time ?? last;
  return { document: page.document, fold, state: fold.at(count), count, now, isNow, isAtWork: page.isAtWork, isRecorded: page.isRecorded, seen: isNow ? page.seen : null };
}

function draw() {
  if (!page.isThere) return;
  const view = current();
  const [, sections] = VIEWS.find(([name]) => name === page.name);
  show(find("main"), ...sections(view));
  drawTime(view);
  find("summary").textContent = summary(view);
  document.body.dataset.count = String(view.count);
  document.body.dataset.lines = String(view.count > 0 ? lastLine(view) : 0);
}

// The line of the journal that was read last; what is waited for stands in the log.
function lastLine(view) {
  let place = view.count - 1;
  while (place >= 0 && page.fold.moments[place].seq === undefined) place -= 1;
  return place < 0 ? 0 : page.fold.moments[place].seq;
}

function drawTime(view) {
  const slider = find("slider");
  slider.max = String(page.fold.length);
  slider.value = String(view.count);
  const moment = view.count > 0 ? page.fold.moments[view.count - 1] : null;
  const text = moment === null ? "before the first moment" : `${dateAndClock(view.now)}, moment ${view.count} of ${page.fold.length}`;
  slider.setAttribute("aria-valuetext", text);
  find("moment").textContent = text;
  find("latest").disabled = page.count === null;
  find("play").setAttribute("aria-pressed", String(page.playing !== null));
  find("play").textContent = page.playing === null ? "Play" : "Pause";
}

// One sentence about all of it.
function summary(view) {
  const states = view.state.get("phases") ?? new Map();
  const all = view.document.phases.map((phase) => [phase.name, phaseState(states.get(phase.name) ?? { state: "untouched" }, view.isNow, view.isAtWork)]);
  const done = all.filter(([, state]) => state === "finished").length;
  const running = all.find(([, state]) => state === "running");
  const failed = all.find(([, state]) => state === "failed");
  const when = view.isNow ? (page.isRecorded ? "At the end of the recording" : page.isLost ? "When hardway page last answered" : "Now") : `At ${clock(view.now)}`;
  const what = failed ? `${failed[0]} gave up` : running ? `${running[0]} is at work` : done === all.length ? "the cluster is installed" : done === 0 ? "nothing has been installed yet" : "nobody is at work";
  const start = view.fold.times[0];
  const took = view.count > 0 ? `, ${duration((view.now - start) / 1000)} after the first moment` : "";
  return `${when}: ${done} of ${all.length} phases are done, ${what}${took}.`;
}

function problems(view) {
  if (view.document.problems.length === 0) return null;
  return section("Not known", el("ul", {}, view.document.problems.map(problemItem)));
}

function problemItem(problem, place) {
  const open = () => openTexts(problem.code ?? "Not known", ...errorTexts(problem));
  return el("li", { "data-problem": problem.code ?? "" }, problem.detail, " ", el("button", { type: "button", class: "link", onclick: open, "data-key": `problem ${place}` }, "Evidence and fix"));
}

function eventsSection(view) {
  const from = Math.max(0, view.count - SHOWN_MOMENTS);
  const shown = view.fold.moments.slice(from, view.count).reverse();
  if (shown.length === 0) return section("Moments", none("Nothing has happened yet: hardway create cluster starts an install."));
  const item = (moment, place) => {
    const to = view.count - place;
    const travel = el("button", { type: "button", class: "link", onclick: () => travelTo(to), "data-key": `moment ${to}`, "aria-label": `Go to ${clock(moment.time)}` }, clock(moment.time));
    return el("li", { class: moment.kind, "data-moment": moment.seq }, travel, " ", moment.text, " ", whatIsThis(moment, to));
  };
  return section("Moments", el("ol", { class: "moments", reversed: true }, shown.map(item)));
}

// What it is about, else what such a line of the journal means.
function whatIsThis(moment, place) {
  const name = [moment.about, moment.kind].find((word) => word && isExplained(word));
  return name ? explained(name, "what is this?", `about ${place}`) : null;
}

function travelTo(count) {
  wantedLine = null;
  stop();
  page.count = count >= page.fold.length ? null : count;
  draw();
}

function stop() {
  if (page.playing !== null) clearInterval(page.playing.timer);
  page.playing = null;
}

function play() {
  const view = current();
  const end = page.fold.times[page.fold.length - 1];
  const from = view.isNow ? page.fold.times[0] : view.now;
  const playing = { time: from, at: performance.now() };
  playing.timer = setInterval(() => {
    const now = performance.now();
    playing.time += (now - playing.at) * Number(find("speed").value);
    playing.at = now;
    if (playing.time >= end) {
      stop();
      page.count = null;
    } else {
      page.count = page.fold.countAt(playing.time);
    }
    draw();
  }, 250);
  page.playing = playing;
  page.count = page.fold.countAt(from);
  draw();
}

function tabs() {
  const button = ([name]) => {
    const choose = () => {
      page.name = name;
      tabs();
      draw();
      find("main").scrollTop = 0;
    };
    return el("button", { type: "button", onclick: choose, "aria-current": name === page.name ? "page" : null, "data-key": `tab ${name}` }, name);
  };
  show(find("tabs"), ...VIEWS.map(button));
}

function listen() {
  find("slider").addEventListener("input", (event) => travelTo(Number(event.target.value)));
  find("latest").addEventListener("click", () => travelTo(page.fold.length));
  find("play").addEventListener("click", () => {
    if (page.playing === null && page.fold.length > 0) play();
    else stop();
    draw();
  });
  // A click beside the dialog closes it, as Escape does.
  find("explanation").addEventListener("click", (event) => {
    if (event.target === event.currentTarget) event.currentTarget.close();
  });
}

function heard(name, data) {
  if (name === "begin") page.fold.clear();
  else if (name === "moments") takeIn(data);
  else if (name === "live") [page.isThere, page.isAtWork] = [true, data.isAtWork];
  else if (name === "seen") page.seen = data;
  else if (name === "document") refresh();
  else if (name === "refused") return fail(data);
  page.isLost = name === "lost";
  later();
}

function takeIn(moments) {
  page.fold.append(moments);
  if (wantedLine === null) return;
  const at = page.fold.moments.findIndex((moment) => moment.seq === wantedLine);
  if (at < 0) return;
  page.count = at + 1;
  wantedLine = null;
}

let isDue = false;

// Many pieces come at once when the page is opened: they are drawn together.
function later() {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    draw();
  });
}

// Files were made meanwhile.
async function refresh() {
  try {
    page.document = await fetched("document");
    setExplanations(await fetched("explanations"));
  } catch {
    return;
  }
  later();
}

function fail(why) {
  find("summary").textContent = why;
  show(find("main"), section("Nothing can be shown", el("p", {}, why)));
}

async function begin() {
  const own = recorded("document");
  page.isRecorded = own !== null;
  try {
    page.document = own ?? (await fetched("document"));
  } catch (error) {
    return fail(error.message);
  }
  page.fold = new Fold(page.document.beginning);
  page.name = VIEWS.find(([name]) => name === place.get("view"))?.[0] ?? page.name;
  find("title").textContent = page.document.title;
  document.title = `${page.document.title} – hardway`;
  tabs();
  listen();
  if (page.isRecorded) {
    setExplanations(recorded("explanations"));
    takeIn(recorded("moments"));
    page.seen = recorded("seen");
    page.isThere = true;
    draw();
    return;
  }
  follow(heard);
  // Nothing on the first screen waits for them.
  fetched("explanations").then((known) => { setExplanations(known); later(); }, () => {});
  setInterval(() => { if (page.isAtWork && page.count === null) later(); }, 1000);
}

begin();
