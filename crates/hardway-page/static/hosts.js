// Hosts as cards, each with its way from off to a node that is Ready, and the end of its console.
import { el, section, none, tail, command, badge } from "./dom.js";
import { capital, clock } from "./format.js";
import { rows } from "./fold.js";
import { guide, meaning, meanings, openTexts, texts } from "./explain.js";

// In the order of the way; the states are those of hardway status.
const WAY = [
  ["off", "off"],
  ["on", "installing"],
  ["seen", "config fetched"],
  ["os-written", "OS written"],
  ["rebooted", "rebooted"],
  ["kubelet-up", "kubelet"],
  ["joined", "certificates"],
  ["ready", "Ready"],
];
// It becomes no node: once the masters carry the cluster, it goes.
const WAY_OF_BOOTSTRAP = [...WAY.slice(0, 5), ["removed", "removed"]];

export function hostsSection(view) {
  const known = new Map(rows(view.state, "hosts").map((row) => [row.host, row]));
  const declared = view.document.hosts;
  const strangers = (view.seen?.nodes ?? []).filter((node) => !declared.some((host) => host.node === node.node));
  const cards = declared.map((host) => card(view, host, known.get(host.name)));
  cards.push(...strangers.map(strangerCard));
  return section("Hosts", cards.length > 0 ? el("ul", { class: "cards" }, cards) : none("The hosts are not known here."));
}

// Whether its node is Ready: as the cluster says it now, else as the journal has it.
export function readiness(view, host, row) {
  const node = view.seen?.nodes.find((seen) => seen.node === host.node);
  return node ?? (row?.isReady === undefined ? null : { isReady: row.isReady, sentence: row.isReady ? "its node is Ready" : "its node is not Ready" });
}

function reachedState(view, host, row, ready) {
  if (host.role === "bootstrap" && view.state.get("phases")?.get("remove-bootstrap")?.state === "finished") return "removed";
  if (row?.state === "joined" && ready?.isReady) return "ready";
  return row?.state;
}

function card(view, host, row) {
  const ready = readiness(view, host, row);
  const way = host.role === "bootstrap" ? WAY_OF_BOOTSTRAP : WAY;
  const state = reachedState(view, host, row, ready);
  const reached = way.findIndex(([known]) => known === state);
  const last = reached === way.length - 1;
  const steps = way.map(([, word], place) =>
    el("li", { class: place < reached || (last && place === reached) ? "passed" : place === reached ? "reached" : "", "aria-current": place === reached ? "step" : null }, word),
  );
  const seen = view.seen?.consoles.find((one) => one.host === host.name);
  return el(
    "li",
    { class: `card ${last ? "arrived" : ""}`, "data-host": host.name, "data-state": row?.state ?? "", "data-sentence": row?.sentence ?? "", "data-ready": ready ? String(ready.isReady) : "" },
    el("h3", {}, hostName(host, row, way)),
    el("p", { class: "kind" }, `${host.role} · ${host.addresses.join(", ")}`),
    el("ol", { class: "way", "aria-label": `Progress of ${host.name}` }, steps),
    el("p", { class: "note" }, row?.sentence ?? "", row?.since ? el("span", { class: "since" }, ` since ${clock(row.since)}`) : null),
    ready && !ready.isReady ? el("p", { class: "note" }, badge("not Ready", "hold"), ` ${ready.sentence}`) : null,
    seen ? tail(`Console of ${host.name}`, seen.lines, `console ${host.name}`, seen.command ? command(seen.command) : null) : null,
  );
}

// States that are none of a machine, but of its node or of the install.
const LAST_STATES = { ready: "Its kubelet reports, and pods can run there.", removed: "It has done its part: the masters carry the cluster." };

function hostName(host, row, way) {
  const open = () => openTexts(`host ${host.name}`,
    row?.sentence ? el("p", {}, `${capital(row.sentence)}.`) : null,
    ...texts(host.name),
    el("h3", {}, "Its way"),
    meanings(way.map(([state, word]) => [word, LAST_STATES[state] ?? meaning(state)])),
    guide(host.role === "worker" ? "boot-workers" : "install-os"));
  return el("button", { type: "button", class: "name", onclick: open, "data-key": `host ${host.name}`, "data-explain": host.name }, host.name);
}

function nodeName(node) {
  const open = () => openTexts(`node ${node.node}`,
    el("p", {}, `A node of the cluster that no host of this folder's inventory becomes: somebody else added it, or the inventory has changed since. ${node.sentence}.`),
    el("h3", {}, "Look closer"), command(`oc describe node ${node.node}`), guide("join-workers"));
  return el("button", { type: "button", class: "name", onclick: open, "data-key": `node ${node.node}` }, node.node);
}

// The cluster has it, and nobody declared it here.
function strangerCard(node) {
  return el("li", { class: `card ${node.isReady ? "arrived" : ""}`, "data-node": node.node, "data-ready": String(node.isReady) },
    el("h3", {}, nodeName(node)), el("p", { class: "kind" }, "a node of the cluster"), el("p", { class: "note" }, badge(node.isReady ? "Ready" : "not Ready", node.isReady ? "finished" : "hold"), ` ${node.sentence}`));
}
