// The phases as a timeline: when each was at work, for how long, and what it waits for.
import { el, svg, section, badge, command } from "./dom.js";
import { clock, duration } from "./format.js";
import { rows, phaseState } from "./fold.js";
import { explained, guide, openTexts, texts } from "./explain.js";

const ENDS = new Set(["phase-finished", "phase-failed", "phase-reset", "install-interrupted"]);
const WIDTH = 1000;

// When phases were at work, by the moments so far.
function spans(view) {
  const found = [];
  const open = new Map();
  for (let place = 0; place < view.count; place += 1) {
    const moment = view.fold.moments[place];
    if (moment.kind !== "phase-started" && !ENDS.has(moment.kind)) continue;
    const [name, row] = Object.entries(moment.set.phases)[0];
    const before = open.get(name);
    if (before) {
      before.end = view.fold.times[place];
      before.state = row.state;
      open.delete(name);
    }
    if (moment.kind === "phase-started") {
      const span = { name, start: view.fold.times[place], end: null, state: "running" };
      found.push(span);
      open.set(name, span);
    }
  }
  for (const span of open.values()) span.end = view.now;
  return found;
}

export function phasesSection(view) {
  const found = spans(view);
  const start = found.length > 0 ? found[0].start : view.now;
  const whole = Math.max(1, view.now - start);
  const states = view.state.get("phases") ?? new Map();
  const waiting = rows(view.state, "waiting")[0];
  const items = view.document.phases.map((phase) => {
    const row = states.get(phase.name) ?? { state: "untouched" };
    const state = phaseState(row, view.isNow, view.isAtWork);
    const own = found.filter((span) => span.name === phase.name);
    const at = own.length > 0 ? own[own.length - 1] : null;
    const took = row.seconds ?? (state === "running" && at ? (view.now - at.start) / 1000 : null);
    return el(
      "li",
      { class: `phase ${state}`, "data-phase": phase.name, "data-state": state, "data-detail": row.detail ?? "", "data-seconds": row.seconds ?? "" },
      el("span", { class: "number" }, String(phase.number)),
      explained(phase.name),
      badge(state, state),
      bars(own, start, whole),
      el("span", { class: "took" }, took === null ? "" : duration(took)),
      note(phase, row, state, states, waiting),
    );
  });
  return section("Phases", el("ol", { class: "phases" }, items));
}

function bars(own, start, whole) {
  const place = (time) => ((time - start) / whole) * WIDTH;
  const rects = own.map((span) =>
    svg("rect", { class: span.state, x: place(span.start).toFixed(1), y: 0, width: Math.max(2, place(span.end) - place(span.start)).toFixed(1), height: 10 }),
  );
  const told = own.map((span) => `${clock(span.start)} to ${clock(span.end)}`).join(", ");
  return svg("svg", { class: "bar", viewBox: `0 0 ${WIDTH} 10`, preserveAspectRatio: "none", role: "img", "aria-label": own.length > 0 ? `at work ${told} UTC` : "not at work yet" }, rects);
}

function note(phase, row, state, states, waiting) {
  if (state === "failed") {
    const open = () => openTexts(row.code ?? row.detail, ...errorTexts(row), guide(phase.name));
    return el("p", { class: "note" }, row.detail, " ", el("button", { type: "button", class: "link", onclick: open, "data-key": `error ${phase.name}` }, "Evidence and fix"));
  }
  if (state === "running" && waiting) return el("p", { class: "note" }, `waiting for ${waiting.waitsFor}`);
  if (state === "untouched") {
    const missing = phase.needs.filter((need) => states.get(need)?.state !== "finished");
    return missing.length > 0 ? el("p", { class: "note" }, `after ${missing.join(" and ")}`) : null;
  }
  return row.detail ? el("p", { class: "note" }, row.detail) : null;
}

// What was seen, what to do with a button that copies it, and what the code means.
export function errorTexts(row) {
  const evidence = (row.evidence ?? []).map((text) => el("pre", { tabindex: "0" }, text));
  return [
    el("p", {}, row.detail),
    evidence.length > 0 ? el("h3", {}, "Evidence") : null,
    ...evidence,
    row.fix ? el("h3", {}, "Fix") : null,
    row.fix ? command(row.fix) : null,
    ...(row.code ? [el("h3", {}, row.code), ...texts(row.code)] : []),
  ];
}
