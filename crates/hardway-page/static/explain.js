// Every thing opens what `hardway explain` says of it.
import { el, show, command } from "./dom.js";

let explanations = {};

export function setExplanations(known) {
  explanations = known;
}

// Terms and operators have a word before their names: commands and checks are called so, too.
function found(name) {
  const key = [name, `term ${name}`].find((key) => Object.hasOwn(explanations, key));
  return key === undefined ? undefined : explanations[key];
}

export function isExplained(name) {
  return found(name) !== undefined;
}

// A name that can be asked about, and the phase whose page of the guide tells the story around it.
export function explained(name, shown, key, phase) {
  const open = () => openExplanation(name, phase);
  return el("button", { type: "button", class: "name", onclick: open, "data-key": key ?? `explain ${name}`, "data-explain": name }, shown ?? name);
}

export function openExplanation(name, phase) {
  openTexts(name, ...texts(name), guide(phase));
}

// The way to a page of the guide.
export function guide(phase) {
  if (!phase || !isExplained(phase)) return null;
  return el("p", { class: "guide" }, "In the guide: ", el("button", { type: "button", class: "link", onclick: () => openExplanation(phase), "data-key": `guide ${phase}` }, found(phase).title ? `${phase}: ${found(phase).title}` : phase));
}

// The chapter of the guide in which a part of the page is at home.
export function about(phase, part) {
  return el("p", { class: "note" }, explained(phase, `About ${part}`, `about ${part}`));
}

// The same, of something that has a text of its own: what is seen of it now, and what its name means.
export function openTexts(title, ...children) {
  const dialog = document.getElementById("explanation");
  document.getElementById("explanation-title").textContent = title;
  const text = document.getElementById("explanation-text");
  show(text, ...children);
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
}

export function texts(name) {
  const known = found(name);
  if (!known) return [el("p", {}, `Nothing more is known about ${name} here.`), command(`hardway explain ${name}`)];
  if (known.page) return [...markdown(known.page), command(`hardway explain ${name}`)];
  return [...things(known), command(`hardway explain ${name}`)];
}

function things(known) {
  return known.things.flatMap((thing) => [el("p", { class: "kind" }, thing.kind), meanings(thing.lines)]);
}

// Of an operator, also of one that nobody knows here.
export function operatorTexts(operator) {
  const known = found(`operator ${operator}`);
  return known ? things(known) : [el("p", {}, "A ClusterOperator: a part of OpenShift that reports whether it works.")];
}

// The first line of it, where a sentence is enough; nothing where there is none.
export function meaning(word) {
  return (explanations[`term ${word}`] ?? explanations[word])?.things?.[0]?.lines[0][1] ?? "";
}

// Words and what they mean, one below the other.
export function meanings(words) {
  return el("dl", {}, words.flatMap(([word, text]) => [el("dt", {}, word), el("dd", {}, text)]));
}

// As much of Markdown as the pages of the guide use: headings, lists, tables, code, paragraphs.
export function markdown(text) {
  const blocks = [];
  const lines = text.split("\n");
  const isNext = (test) => lines.length > 0 && test(lines[0]);
  while (lines.length > 0) {
    const line = lines.shift();
    if (line.startsWith("```")) {
      const code = [];
      while (lines.length > 0 && !lines[0].startsWith("```")) code.push(lines.shift());
      lines.shift();
      blocks.push(el("pre", { tabindex: "0" }, el("code", {}, code.join("\n"))));
    } else if (line.startsWith("#")) {
      blocks.push(el("h3", {}, inline(line.replace(/^#+ */, ""))));
    } else if (line.startsWith("|")) {
      const table = [line];
      while (isNext((next) => next.startsWith("|"))) table.push(lines.shift());
      blocks.push(tableOf(table));
    } else if (/^[-*] /.test(line)) {
      const items = [line.slice(2)];
      while (isNext((next) => /^[-*] /.test(next) || /^ +\S/.test(next))) {
        const next = lines.shift();
        if (/^[-*] /.test(next)) items.push(next.slice(2));
        else items[items.length - 1] += ` ${next.trim()}`;
      }
      blocks.push(el("ul", {}, items.map((item) => el("li", {}, inline(item)))));
    } else if (line.trim() !== "" && !line.startsWith("<!--")) {
      const words = [line];
      while (isNext((next) => next.trim() !== "" && !/^([-*] |#|\||```|<!--)/.test(next))) words.push(lines.shift());
      blocks.push(el("p", {}, inline(words.join(" "))));
    }
  }
  return blocks;
}

function tableOf(lines) {
  const cells = (line) => line.replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
  const [head, , ...body] = lines.map(cells);
  const row = (name) => (texts) => el("tr", {}, texts.map((text) => el(name, name === "th" ? { scope: "col" } : {}, inline(text))));
  return el("div", { class: "scroll", tabindex: "0" }, el("table", {}, el("thead", {}, row("th")(head)), el("tbody", {}, body.map(row("td")))));
}

// Pages of the guide open here; of others, which lie in the repository, the name is enough.
function linked(words, target) {
  const phase = /^(?:.*\/)?\d\d-([a-z-]+)\.md$/.exec(target)?.[1];
  if (!phase || !isExplained(phase)) return words;
  return el("button", { type: "button", class: "link", onclick: () => openExplanation(phase) }, words);
}

function inline(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\([^)]+\))/).map((part) => {
    if (part.startsWith("`")) return el("code", {}, part.slice(1, -1));
    if (part.startsWith("**")) return el("strong", {}, part.slice(2, -2));
    if (part.startsWith("[") && part.includes("](")) return linked(part.slice(1, part.indexOf("](")), part.slice(part.indexOf("](") + 2, -1));
    return part;
  });
}
