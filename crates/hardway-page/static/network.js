// The network drawn: names lead to addresses, addresses to members, members are hosts.
import { el, svg, section, none, badge, command } from "./dom.js";
import { rows } from "./fold.js";
import { about, explained, guide, meaning, openTexts } from "./explain.js";

const ROW = 26;

export function networkSection(view) {
  const network = view.document.network;
  if (!network) return section("Network", none("The network is not known without the input files."));
  const phases = view.state.get("phases") ?? new Map();
  const isInstalled = phases.get("remove-bootstrap")?.state === "finished";
  const ports = isInstalled ? network.installed : network.bootstrapping;
  const hosts = new Map(rows(view.state, "hosts").map((row) => [row.host, row]));
  const facts = [
    ["Machine networks", "networking.machineNetwork", network.machineNetworks.join(", ")],
    ["Gateway", "inventory network.gateway", network.gateway.join(", ") || "none"],
    ["Name servers", "inventory network.dns", network.dns.join(", ") || "none"],
    ["Load balancer", "inventory network.loadBalancer", network.balancer === "haproxy" ? "HAProxy, set up by hardway" : "run by somebody else"],
  ];
  return section(
    "Network",
    about("build-infra", "the network"),
    el("dl", { class: "facts" }, facts.flatMap(([label, field, text]) => [el("dt", {}, explained(field, label, `field ${field}`, "build-infra")), el("dd", {}, text)])),
    el("p", { class: "note" }, isInstalled ? "The bootstrap host has left the load balancer." : "The bootstrap host answers for the API until the masters do.", isAsked(view) ? " The members' health is as the load balancer sees it now." : " Of the past, and where nobody can be asked, a member counts as up once its host has joined, the bootstrap host once it has fetched its config."),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Drawing of the network" }, drawing(view, network, ports, hosts)),
    el("h3", {}, "Load balancer"),
    el("ul", { class: "cards" }, ports.map((port) => portCard(view, port, hosts))),
    el("h3", {}, "Names"),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Names" }, el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Name"), el("th", { scope: "col" }, "Addresses"), el("th", { scope: "col" }, "Resolves to"))),
      el("tbody", {}, network.names.map((name) => el("tr", { "data-name": name.name }, el("th", { scope: "row" }, dnsName(name, network)), el("td", {}, name.addresses.join(", ")), el("td", {}, resolved(view, name))))))),
  );
}

function isAsked(view) {
  return (view.seen?.members.length ?? 0) > 0;
}

// As the load balancer says; where nobody asked it, as far as the journal tells.
function health(view, port, member, row) {
  const seen = view.seen?.members.find((one) => one.port === port.port && one.host === member);
  if (seen) return { isUp: seen.isWell, words: seen.sentence, kind: seen.isWell ? "up" : "ill" };
  const up = isUp(row);
  return { isUp: up, words: up ? "up" : "not yet", kind: up ? "up" : "down" };
}

// Of a name with a wildcard one below it was asked for.
function resolved(view, name) {
  const asked = view.seen?.names.find((one) => one.name === name.name || (name.name.startsWith("*") && one.name.endsWith(name.name.slice(1))));
  if (!asked) return "";
  return [badge(asked.isAsDeclared ? "as declared" : "wrong", asked.isAsDeclared ? "finished" : "failed"), ` ${asked.sentence}`];
}

function dnsName(name, network) {
  const open = () => openTexts(`name ${name.name}`, el("p", {}, nameMeaning(name, network)), el("dl", {}, el("dt", {}, "leads to"), el("dd", {}, name.addresses.join(", ") || "no address"), el("dt", {}, "asked of"), el("dd", {}, network.dns.join(", ") || "the name server of each host")),
    el("h3", {}, "Look closer"), command(`dig +short ${name.name.replace("*", "anything")}`), guide("build-infra"));
  return el("button", { type: "button", class: "name", onclick: open, "data-key": `name ${name.name}` }, name.name);
}

function nameMeaning(name, network) {
  if (name.name === `api.${network.domain}`) return meaning("api");
  if (name.name === `api-int.${network.domain}`) return meaning("api-int");
  if (name.name.startsWith("*")) return "Every name below it: routes of applications, the console and the login page among them.";
  return "The name of a host. Its node is called so, and its kubelet's certificate is for it.";
}

function portName(port) {
  const open = () => openTexts(`${port.name} :${port.port}`,
    el("p", {}, PORTS[port.name] ?? ""),
    el("dl", {}, [["addresses", port.addresses.join(", ")], ["members", port.members.join(", ")], ["health check", port.health]].flatMap(([label, text]) => [el("dt", {}, label), el("dd", {}, text)])), guide("build-infra"));
  return el("button", { type: "button", class: "name", onclick: open, "data-key": `port ${port.port}` }, `${port.name} :${port.port}`);
}

const PORTS = {
  "api": "The Kubernetes API: people, operators and every kubelet come here.",
  "machine-config-server": "Machines fetch the config of their pool here on their first boot. Nobody outside may.",
  "ingress-https": "Routes of applications and the console, over TLS.",
  "ingress-http": "Routes of applications, without TLS.",
};

function isUp(row) {
  if (!row) return false;
  return row.state === "joined" || (row.host === "bootstrap" && !["off", "on"].includes(row.state));
}

function portCard(view, port, hosts) {
  const members = port.members.map((member) => {
    const { isUp: up, words, kind } = health(view, port, member, hosts.get(member));
    return el("li", { class: kind, "data-member": member, "data-up": String(up) }, explained(member, member, `member ${port.port} ${member}`, "build-infra"), ` ${words}`);
  });
  return el("li", { class: "card", "data-port": port.port }, el("h3", {}, portName(port)), el("p", { class: "kind" }, `${port.addresses.join(", ")} · health ${port.health}`), el("ul", { class: "plain" }, members));
}

// Three columns: what clients ask for, the virtual addresses with their ports, the members.
function drawing(view, network, ports, hosts) {
  const names = network.names.filter((name) => name.name.startsWith("api") || name.name.startsWith("*"));
  const members = [...new Set(ports.flatMap((port) => port.members))];
  const height = Math.max(names.length, ports.length, members.length) * ROW + 20;
  const y = (place, count) => ((place + 0.5) * height) / count;
  const lines = [];
  names.forEach((name, from) => ports.forEach((port, to) => {
    if (port.addresses.some((address) => name.addresses.includes(address))) {
      const isApi = name.name.startsWith("api-int") || port.port !== 22623;
      if (isApi) lines.push(line(210, y(from, names.length), 320, y(to, ports.length), "wire"));
    }
  }));
  ports.forEach((port, from) => port.members.forEach((member) => {
    const { kind } = health(view, port, member, hosts.get(member));
    lines.push(line(520, y(from, ports.length), 640, y(members.indexOf(member), members.length), `wire ${kind}`));
  }));
  const text = (x, place, count, words) => svg("text", { x, y: y(place, count), "dominant-baseline": "middle" }, words);
  return svg(
    "svg",
    { class: "network", viewBox: `0 0 800 ${height}`, role: "img", "aria-label": "Names resolve to virtual addresses, which lead to the members of the load balancer; the lists below say the same" },
    lines,
    names.map((name, place) => text(0, place, names.length, name.name)),
    ports.map((port, place) => text(325, place, ports.length, `${port.addresses[0] ?? "?"}:${port.port}`)),
    members.map((member, place) => text(648, place, members.length, member)),
  );
}

function line(x1, y1, x2, y2, kind) {
  return svg("path", { class: kind, d: `M${x1} ${y1.toFixed(1)} C ${(x1 + x2) / 2} ${y1.toFixed(1)}, ${(x1 + x2) / 2} ${y2.toFixed(1)}, ${x2} ${y2.toFixed(1)}` });
}
