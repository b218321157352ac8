// etcd, operators, certificate requests, and workers of hosted clusters.
import { el, svg, section, none, badge, command, tail } from "./dom.js";
import { clock, plural } from "./format.js";
import { rows } from "./fold.js";
import { about, explained, guide, isExplained, meaning, meanings, openTexts, operatorTexts } from "./explain.js";

// Members on a ring: who has a vote, who leads, who only learns yet.
export function etcdSection(view) {
  const members = view.seen?.etcd ?? rows(view.state, "etcd");
  if (members.length === 0) return section("etcd", none("No etcd member has been seen yet."));
  const voters = members.filter((member) => member.role !== "learner");
  const well = voters.filter((member) => member.isHealthy).length;
  const quorum = Math.floor(voters.length / 2) + 1;
  const [across, middle, radius] = [170, 120, 74];
  const spots = members.flatMap((member, place) => {
    const angle = (2 * Math.PI * place) / members.length - Math.PI / 2;
    const [x, y] = [across + radius * Math.cos(angle), middle + radius * Math.sin(angle)];
    const size = member.role === "leader" ? 20 : 15;
    // Outside of the ring, and away from it.
    const [right, down] = [Math.cos(angle), Math.sin(angle)];
    const anchor = right > 0.3 ? "start" : right < -0.3 ? "end" : "middle";
    const [labelX, labelY] = [x + (anchor === "middle" ? 0 : right * (size + 7)), y + down * (size + 13) + 4];
    return [
      svg("circle", { class: `${member.role} ${member.isHealthy ? "well" : "ill"}`, cx: x.toFixed(1), cy: y.toFixed(1), r: size }),
      svg("text", { class: "member", x: labelX.toFixed(1), y: labelY.toFixed(1), "text-anchor": anchor }, shortName(member.name)),
    ];
  });
  const items = members.map((member) =>
    el("li", { "data-member": member.name, "data-role": member.role, "data-healthy": String(member.isHealthy) },
      memberName(member, view), " ", badge(member.role, member.role), " ", member.isHealthy ? "healthy" : "does not answer"),
  );
  return section(
    "etcd",
    about("await-etcd", "etcd's move to the masters"),
    el("div", { class: "etcd" },
      svg("svg", { viewBox: "-30 0 400 240", class: "ring", "aria-hidden": "true" }, svg("circle", { class: "track", cx: across, cy: middle, r: radius }), spots,
        svg("text", { x: across, y: middle, "text-anchor": "middle", "dominant-baseline": "middle" }, `${well} of ${voters.length}`)),
      el("div", {},
        el("p", { "data-quorum": String(well >= quorum) }, `${well} of ${plural(voters.length, "voter is", "voters are")} healthy; a quorum takes ${quorum}: etcd has ${well >= quorum ? "one" : "none"}.`, members[0].since ? el("span", { class: "since" }, ` So since ${clock(members[0].since)} UTC.`) : null),
        el("ul", { class: "plain" }, items))),
  );
}

function shortName(name) {
  return name === "" ? "not started" : name.split(".")[0];
}

// What it is by now, and what the others may be.
function memberName(member, view) {
  const name = member.name === "" ? "a member that has not started" : member.name;
  const open = () => openTexts(`etcd member ${member.name}`.trim(),
    el("p", {}, `${name} is a ${member.role} and ${member.isHealthy ? "healthy" : "does not answer"}.`),
    meanings(["learner", "voter", "leader", "quorum"].map((word) => [word, meaning(word)])),
    el("h3", {}, "Look closer"), command("hardway etcd status"), guide("await-etcd"));
  return el("button", { type: "button", class: "name", onclick: open, "data-key": `member ${member.name}` }, name);
}

const WORDS = { true: "yes", false: "no", unknown: "?" };

const LEGEND = [["well", "at rest"], ["progressing", "rolling out"], ["unavailable", "not available"], ["degraded", "degraded"], ["unknown", "has not reported"]];

function judged(row) {
  if (row.degraded === "true") return "degraded";
  if (row.available === "unknown") return "unknown";
  if (row.available !== "true") return "unavailable";
  return row.progressing === "true" ? "progressing" : "well";
}

export function operatorsSection(view) {
  const operators = (view.seen?.api?.answers ? view.seen.operators : rows(view.state, "operators")).toSorted((one, other) => (one.operator < other.operator ? -1 : 1));
  if (operators.length === 0) return section("Operators", none("No ClusterOperator has been seen yet."));
  const past = history(view);
  const body = operators.map((row) => operatorRow(row, upToNow(past.get(row.operator) ?? [], row, view), past.start, view));
  const well = operators.filter((row) => judged(row) === "well").length;
  const head = ["Operator", "Available", "Progressing", "Degraded", "Over time"].map((text) => el("th", { scope: "col" }, text));
  return section(
    "Operators",
    about("await-operators", "operators"),
    el("p", {}, `${well} of ${plural(operators.length, "operator is", "operators are")} at rest.`),
    stuck(operators),
    el("ul", { class: "legend", "aria-label": "What the colours over time mean" }, LEGEND.map(([state, words]) => el("li", {}, svg("svg", { viewBox: "0 0 10 10", "aria-hidden": "true" }, svg("rect", { class: state, width: 10, height: 10 })), words))),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Operators" }, el("table", { class: "operators" }, el("thead", {}, el("tr", {}, head)), el("tbody", {}, body))),
  );
}

// What the cluster says now may be newer than what the journal has: nobody writes there after an install.
function upToNow(past, row, view) {
  const state = judged(row);
  if (!view.seen?.api?.answers || past.at(-1)?.state === state) return past;
  return [...past, { time: view.now, state, isNow: true }];
}

function operatorRow(row, past, start, view) {
  const open = () => openTexts(`operator ${row.operator}`, ...chainTexts(row));
  const cell = (kind) => el("td", { class: `${kind} ${row[kind]}` }, WORDS[row[kind]]);
  return el(
    "tr",
    { "data-operator": row.operator, "data-available": row.available, "data-progressing": row.progressing, "data-degraded": row.degraded },
    el("th", { scope: "row" }, el("button", { type: "button", class: "name", onclick: open, "data-key": `operator ${row.operator}` }, row.operator)),
    cell("available"), cell("progressing"), cell("degraded"),
    el("td", {}, strip(past, start, view.now)),
  );
}

// What most of them wait for in the end stands first.
function stuck(operators) {
  const roots = new Map();
  for (const row of operators) {
    const root = (row.waitsFor ?? []).at(-1);
    if (!root) continue;
    const known = roots.get(root.subject) ?? { root, row, count: 0 };
    known.count += 1;
    roots.set(root.subject, known);
  }
  const first = [...roots.values()].sort((one, other) => other.count - one.count)[0];
  if (!first) return null;
  return el("div", { class: "stuck" }, el("h3", {}, "Stuck first"), el("p", {}, `${first.root.what} (${plural(first.count, "operator waits", "operators wait")} for it)`),
    el("ol", { class: "chain", "aria-label": "What waits for what" }, first.row.waitsFor.map((link) => el("li", {}, link.subject))),
    first.root.fix ? command(first.root.fix) : null);
}

function chainTexts(row) {
  const links = (row.waitsFor ?? []).flatMap((link) => [el("li", {}, el("strong", {}, link.subject), `: ${link.what}`, link.fix ? command(link.fix) : null)]);
  return [
    el("p", {}, `available: ${WORDS[row.available]}, progressing: ${WORDS[row.progressing]}, degraded: ${WORDS[row.degraded]}${row.since ? `, since ${clock(row.since)} UTC` : ""}.`),
    links.length > 0 ? el("h3", {}, "It waits for") : el("p", {}, "It waits for nothing."),
    links.length > 0 ? el("ol", {}, links) : null,
    el("h3", {}, "Look closer"),
    command(`oc describe clusteroperator ${row.operator}`),
    ...operatorTexts(row.operator),
    guide("await-operators"),
  ];
}

// The namespace stands before the name.
function ofCluster(worker) {
  return `--cluster ${worker.cluster.split("/").at(-1)}`;
}

function workerName(worker) {
  const open = () => openTexts(`worker ${worker.worker}`,
    meanings([["cluster", worker.cluster], ["pool", worker.nodePool ?? "not known"], ["last step", `${worker.step}: ${meaning(worker.step)}`], ["at", clock(worker.since)], ["error", worker.error ?? "none"]]),
    el("h3", {}, worker.error ? "What to do" : "Look closer"), command(worker.error ? `hardway hosted doctor ${ofCluster(worker)}` : `hardway hosted workers list ${ofCluster(worker)}`), guide("boot-workers"));
  return el("button", { type: "button", class: "name", onclick: open, "data-key": `worker ${worker.worker}` }, worker.worker);
}

// When each operator became what it is, by the moments so far.
function history(view) {
  const past = new Map();
  past.start = view.now;
  for (let place = 0; place < view.count; place += 1) {
    const moment = view.fold.moments[place];
    if (moment.kind !== "operator-seen") continue;
    past.start = Math.min(past.start, view.fold.times[place]);
    for (const [name, row] of Object.entries(moment.set.operators)) {
      if (!past.has(name)) past.set(name, []);
      past.get(name).push({ time: view.fold.times[place], state: judged(row) });
    }
  }
  return past;
}

function strip(past, start, end) {
  const whole = Math.max(1, end - start);
  const place = (time) => ((time - start) / whole) * 400;
  const rects = past.map((entry, index) => {
    const until = index + 1 < past.length ? past[index + 1].time : end;
    // What only the cluster says now has no length yet, and is to be seen all the same.
    const [x, width] = entry.isNow ? [390, 10] : [place(entry.time), Math.max(1, place(until) - place(entry.time))];
    return svg("rect", { class: entry.state, x: x.toFixed(1), y: 0, height: 10, width: width.toFixed(1) });
  });
  const told = past.map((entry) => `${entry.state} from ${clock(entry.time)}`).join(", ");
  return svg("svg", { class: "strip", viewBox: "0 0 400 10", preserveAspectRatio: "none", role: "img", "aria-label": told }, rects);
}

export function requestsSection(view) {
  const known = rows(view.state, "requests");
  // What the cluster has and the journal does not say: nobody has judged it, or somebody else has.
  const others = (view.seen?.requests ?? []).filter((request) => !known.some((row) => row.request === request.request));
  const requests = [...known, ...others].sort((one, other) => ((one.since ?? "") < (other.since ?? "") ? 1 : -1));
  if (requests.length === 0) return section("Certificate requests", none("No certificate has been requested yet."));
  const row = (request) =>
    el("tr", { "data-request": request.request, "data-verdict": request.verdict, "data-reason": request.reason },
      el("td", {}, request.since ? clock(request.since) : ""),
      el("th", { scope: "row" }, requestName(request)),
      el("td", {}, request.node),
      el("td", {}, badge(request.verdict, request.verdict)),
      el("td", {}, request.verdict === "pending" ? "nobody has decided yet" : isExplained(request.reason) ? explained(request.reason, request.reason, `reason ${request.request}`, "join-control-plane") : request.reason, el("span", { class: "note" }, ` ${request.evidence.join("; ")}`)));
  const head = ["Since", "Request", "Node", "Decision", "Reason"].map((text) => el("th", { scope: "col" }, text));
  return section("Certificate requests", about("join-control-plane", "certificate requests"), el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Certificate requests" },
    el("table", {}, el("thead", {}, el("tr", {}, head)), el("tbody", {}, requests.map(row)))));
}

function told(word) {
  return meaning(word) ? `${word}: ${meaning(word)}` : word;
}

function requestName(request) {
  const open = () => openTexts(`certificate request ${request.request}`,
    meanings([["node", request.node], ["signer", request.signer], ["decision", told(request.verdict)], ["reason", request.reason ? told(request.reason) : "none yet"]]),
    request.evidence.length > 0 ? el("h3", {}, "Evidence") : null,
    request.evidence.length > 0 ? el("ul", {}, request.evidence.map((text) => el("li", {}, text))) : null,
    el("h3", {}, "Look closer"), command(`oc describe csr ${request.request}`), guide("join-control-plane"));
  return el("button", { type: "button", class: "name", onclick: open, "data-key": `request ${request.request}` }, request.request);
}

// Whether what is shown is how the cluster is now, or how it was last written down.
export function apiNote(view) {
  const { seen } = view;
  if (!seen?.api) return null;
  const when = seen.time ? `at ${clock(seen.time)} UTC` : "when the bundle was gathered";
  return el("div", { class: `api ${seen.api.answers ? "well" : "ill"}`, "data-api": String(seen.api.answers) }, badge(seen.api.answers ? "live" : "silent", seen.api.answers ? "finished" : "hold"),
    seen.api.answers ? ` As the cluster says it ${when}; at other moments as it was written down.` : [` As it was last written down: ${seen.api.sentence}.`, command("hardway diagnose")]);
}

// What is broken by a bundle, the first link of the chain first.
export function findingsSection(view) {
  const bundle = view.document.bundle;
  if (!bundle) return null;
  const { findings, name } = bundle;
  if (findings.length === 0) return section(`Bundle ${name}`, el("p", {}, "None of the known failures was found in it."));
  const item = (finding) => el("li", { class: "card", "data-finding": finding.code },
    el("h3", {}, explained(finding.code, `${finding.code}: ${finding.symptom}`, `finding ${finding.code}`)),
    el("p", {}, finding.cause),
    el("ul", { class: "evidence" }, finding.evidence.slice(0, 5).map((text) => el("li", {}, text))),
    el("p", { class: "kind" }, "Fix"), command(finding.fix));
  return section(`Broken by ${name}`, el("p", { class: "note" }, "The first link of the chain stands first; most of what follows is its consequence."), el("ol", { class: "plain findings" }, findings.map(item)));
}

export function logsSection(view) {
  const logs = view.document.bundle?.logs ?? [];
  if (logs.length === 0) return null;
  return section("Logs", el("div", { class: "logs" }, logs.map((log, place) => tail(`${log.whose}: ${log.name}`, log.lines, `log ${place}`))));
}

// What is done for a worker, in order: on its way in, while it is upgraded in place, and on its way out.
const WORKER_WAYS = [
  [["boot", "switched on"], ["dress", "labelled"], ["settle", "settled"]],
  [["upgrade", "upgrading"], ["end-upgrade", "upgraded"]],
  [["cordon", "cordoned"], ["drain", "drained"], ["delete-node", "node deleted"], ["remove-machine", "machine removed"], ["forget", "forgotten"]],
];
const STEPS = {
  boot: "Its machine is given a fresh pointer and switched on.",
  dress: "Its node is given the pool's labels and taints.",
  settle: "What only its first boot needed is taken away.",
  upgrade: "Its upgrade in place is begun.",
  "end-upgrade": "Its upgrade in place has ended.",
  cordon: "Its node takes no more pods.",
  drain: "Its pods are asked to leave.",
  "delete-node": "Its node is deleted.",
  "remove-machine": "Its machine is taken away.",
  forget: "Its record is deleted.",
};

// Pools, and their workers, each with its way and the last step that was taken for it.
export function workersSection(view) {
  const workers = rows(view.state, "workers");
  if (workers.length === 0) return null;
  const pools = new Map();
  for (const worker of workers) {
    const pool = `${worker.cluster} ${worker.nodePool ?? ""}`.trim();
    if (!pools.has(pool)) pools.set(pool, []);
    pools.get(pool).push(worker);
  }
  const groups = [...pools].map(([pool, members]) =>
    el("div", { "data-pool": pool }, el("h3", {}, poolName(pool, members)), el("p", { class: "kind" }, poolSentence(members)),
      el("ul", { class: "cards" }, members.map(workerCard))));
  return section("Hosted workers", groups);
}

function poolName(pool, members) {
  const open = () => openTexts(`pool ${pool}`,
    el("p", {}, `A NodePool of a hosted cluster: workers that are made alike. ${poolSentence(members)}`),
    meanings(members.map((worker) => [worker.worker, worker.error ? `failed: ${worker.error}` : `${worker.step}: ${meaning(worker.step)}`])),
    el("h3", {}, "Look closer"), command(`hardway hosted nodepool status ${members[0].nodePool ?? ""} ${ofCluster(members[0])}`), guide("boot-workers"));
  return el("button", { type: "button", class: "name", onclick: open, "data-key": `pool ${pool}` }, `Pool ${pool}`);
}

function poolSentence(members) {
  const failed = members.filter((worker) => worker.error).length;
  const settled = members.filter((worker) => !worker.error && ["settle", "end-upgrade"].includes(worker.step)).length;
  return `${plural(members.length, "worker", "workers")}: ${settled} settled${failed > 0 ? `, ${failed} failed` : ""}.`;
}

function workerCard(worker) {
  const way = WORKER_WAYS.find((steps) => steps.some(([step]) => step === worker.step)) ?? [[worker.step, worker.step]];
  const reached = way.findIndex(([step]) => step === worker.step);
  const isEnd = reached === way.length - 1 && !worker.error;
  const steps = way.map(([, word], place) =>
    el("li", { class: place === reached && worker.error ? "failed" : place < reached || (isEnd && place === reached) ? "passed" : place === reached ? "reached" : "", "aria-current": place === reached ? "step" : null }, word));
  return el("li", { class: `card ${isEnd ? "arrived" : ""}`, "data-worker": worker.worker, "data-step": worker.step },
    el("h3", {}, workerName(worker)),
    el("ol", { class: "way", "aria-label": `The way of ${worker.worker}` }, steps),
    el("p", { class: "note" }, worker.error ? [badge("failed", "failed"), ` ${worker.error}`] : STEPS[worker.step] ?? worker.step, el("span", { class: "since" }, ` (${clock(worker.since)})`)));
}
