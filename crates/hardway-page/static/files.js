// Certificates by when they end, and the graph of assets.
import { el, svg, section, none, badge } from "./dom.js";
import { clock, dateAndClock, duration, plural } from "./format.js";
import { rows } from "./fold.js";
import { about, explained, guide, isExplained, openTexts, texts } from "./explain.js";

// Of the past, as hardway last saw them by then; at the latest moment as they lie there.
function certificatesAt(view) {
  if (view.isNow) return view.document.certificates;
  return rows(view.state, "certificates").toSorted((one, other) => Date.parse(one.notAfter) - Date.parse(other.notAfter));
}

// Journals from before hardway wrote down what it saw of files say nothing of their past.
function wasMade(view) {
  return view.state.get("phases")?.get("make-pki")?.state === "finished";
}

function unseen(view, what) {
  return wasMade(view)
    ? `The journal does not say what ${what} were like at this moment: the hardway that made them did not write that down. The latest moment shows them as they are now.`
    : `Nobody had looked at the ${what} yet at this moment.`;
}

export function certificatesSection(view) {
  const certificates = certificatesAt(view);
  if (certificates.length === 0) return section("Certificates", none(view.isNow ? "No certificate has been made yet." : unseen(view, "certificates")));
  // A recording ends when it was made.
  const now = !view.isNow ? view.now : view.isRecorded ? Date.parse(view.document.time) : Date.now();
  const row = (certificate) => {
    const left = (Date.parse(certificate.notAfter) - now) / 1000;
    const kind = left <= 0 ? "failed" : now >= Date.parse(certificate.dueFrom) ? "interrupted" : "finished";
    return el("tr", { "data-certificate": certificate.name, "data-ends": certificate.notAfter }, el("th", { scope: "row" }, explained(certificate.name, certificate.name, `certificate ${certificate.name}`, "make-pki")), el("td", {}, dateAndClock(certificate.notAfter)), el("td", {}, badge(left <= 0 ? "ended" : `${duration(left)} left`, kind)));
  };
  const head = ["Certificate", "Expires", "At this moment"].map((text) => el("th", { scope: "col" }, text));
  const when = view.isNow ? "as they lie in the folder now" : `as they lay in the folder at ${clock(view.now)} UTC`;
  return section("Certificates", about("make-pki", "certificates"), el("p", { class: "note" }, `${plural(certificates.length, "certificate", "certificates")} ${when}, the next to end first. Those that kubelets and operators draw for themselves are not among them.`),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Certificates" }, el("table", {}, el("thead", {}, el("tr", {}, head)), el("tbody", {}, certificates.map(row)))));
}

// What an asset is made from, and its files, do not change while time goes by; what was seen of it does.
function assetsAt(view) {
  const { assets } = view.document;
  if (view.isNow) return assets.map((asset) => ({ ...asset, isKnown: true, edited: asset.files.filter((file) => file.isEdited).map((file) => file.path) }));
  const seen = view.state.get("assets") ?? new Map();
  const nothing = { stale: false, reasons: [], edited: [] };
  const known = assets.map((asset) => ({ ...asset, isKnown: seen.has(asset.asset), ...(seen.get(asset.asset) ?? nothing) }));
  const isGone = (row) => !assets.some((asset) => asset.asset === row.asset);
  const gone = [...seen.values()].filter(isGone).map((row) => ({ ...row, isKnown: true, phase: "no part of the cluster any more", files: [], needs: [] }));
  return [...known, ...gone];
}

function freshness(asset) {
  if (!asset.isKnown) return badge("not looked at yet", "untouched");
  return badge(asset.stale ? "stale" : "fresh", asset.stale ? "interrupted" : "finished");
}

let wanted = "";

export function assetsSection(view) {
  const assets = assetsAt(view);
  if (assets.length === 0) return section("Assets", none("The assets are not known yet: the release has not been fetched."));
  if (!assets.some((asset) => asset.isKnown)) return section("Assets", about("make-manifests", "assets"), none(unseen(view, "assets")));
  const list = el("ul", { class: "assets" });
  const count = el("p", { role: "status" });
  const draw = () => {
    const words = wanted.toLowerCase().split(/\s+/).filter((word) => word !== "");
    const found = assets.filter((asset) => words.every((word) => assetWords(asset).includes(word)));
    const stale = assets.filter((asset) => asset.stale).length;
    const unknown = assets.filter((asset) => !asset.isKnown).length;
    count.textContent = `${found.length} of ${plural(assets.length, "asset", "assets")}; ${stale === 0 ? "none is stale" : `${stale} stale`}${unknown === 0 ? "" : `, ${unknown} not looked at yet`}.`;
    list.replaceChildren(...found.toSorted((one, other) => Number(other.stale) - Number(one.stale)).map((asset) => assetItem(asset, assets)));
  };
  const search = el("input", { type: "search", id: "search", value: wanted, "data-key": "search", oninput: (event) => { wanted = event.target.value; draw(); } });
  draw();
  const when = view.isNow ? "As the files in the folder are now." : `As hardway last saw the files by ${clock(view.now)} UTC.`;
  return section("Assets", about("make-manifests", "assets"), el("p", { class: "note" }, when), el("label", { class: "search" }, "Find an asset, file or reason ", search), count, list);
}

function assetWords(asset) {
  return [asset.asset, asset.phase, ...asset.reasons, ...asset.files.map((file) => file.path), asset.isKnown ? (asset.stale ? "stale" : "fresh") : "not looked at yet"].join(" ").toLowerCase();
}

// Drawn: what it is made from, and what is made from it.
function neighbours(asset, assets) {
  const users = assets.filter((other) => other.needs.includes(asset.asset)).map((other) => other.asset);
  const isStale = (name) => assets.find((other) => other.asset === name)?.stale;
  const rows = Math.max(asset.needs.length, users.length, 1);
  const height = rows * 24 + 12;
  const y = (place, count) => ((place + 0.5) * height) / count;
  const wire = (x1, y1, x2, y2, name) => svg("path", { class: isStale(name) ? "wire stale" : "wire", d: `M${x1} ${y1.toFixed(1)} C ${(x1 + x2) / 2} ${y1.toFixed(1)}, ${(x1 + x2) / 2} ${y2.toFixed(1)}, ${x2} ${y2.toFixed(1)}` });
  const label = (x, place, count, name, anchor) => svg("text", { x, y: y(place, count), "text-anchor": anchor, "dominant-baseline": "middle", class: isStale(name) ? "stale" : "" }, name);
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "What it is made from, and what is made from it" },
    svg("svg", { class: "network graph", viewBox: `0 0 900 ${height}`, role: "img", "aria-label": `${asset.asset} is made from ${asset.needs.join(", ") || "no other asset"}; made from it: ${users.join(", ") || "no other asset"}` },
      asset.needs.map((name, place) => wire(262, y(place, asset.needs.length), 340, height / 2, name)),
      users.map((name, place) => wire(560, height / 2, 638, y(place, users.length), asset.asset)),
      asset.needs.map((name, place) => label(255, place, asset.needs.length, name, "end")),
      label(450, 0, 1, asset.asset, "middle"),
      users.map((name, place) => label(645, place, users.length, name, "start"))));
}

function openAsset(asset, assets) {
  const { edited } = asset;
  openTexts(`asset ${asset.asset}`,
    el("p", {}, freshness(asset), asset.reasons.length > 0 ? ` ${asset.reasons.join("; ")}` : asset.isKnown ? " nothing that it is made from has changed" : null, asset.since ? ` (since ${clock(asset.since)} UTC)` : null),
    neighbours(asset, assets),
    edited.length > 0 ? el("p", {}, `Edited by hand: ${edited.join(", ")}`) : null,
    asset.files.length > 0 ? el("h3", {}, "Files") : null,
    el("ul", { class: "plain" }, asset.files.slice(0, 60).map((file) => el("li", {}, isExplained(file.path) ? explained(file.path, file.path, `file ${file.path}`, asset.phase) : file.path))),
    asset.files.length > 60 ? el("p", { class: "note" }, `and ${asset.files.length - 60} more`) : null,
    ...texts(asset.asset), guide(asset.phase));
}

function assetItem(asset, assets) {
  const { edited } = asset;
  return el(
    "li",
    { "data-asset": asset.asset, "data-stale": asset.isKnown ? String(asset.stale) : "unknown", "data-reasons": asset.reasons.join("; ") },
    el("button", { type: "button", class: "name", onclick: () => openAsset(asset, assets), "data-key": `asset ${asset.asset}`, "data-explain": asset.asset }, asset.asset), " ", freshness(asset), el("span", { class: "kind" }, ` ${asset.phase}`),
    asset.reasons.length > 0 ? el("p", { class: "note" }, `Stale: ${asset.reasons.join("; ")}`) : null,
    edited.length > 0 ? el("p", { class: "note" }, `Edited by hand: ${edited.join(", ")}`) : null,
    asset.needs.length > 0 ? el("p", { class: "note" }, "Made from ", asset.needs.join(", ")) : null,
  );
}
