// Elements. Text is always text: nothing that comes from a journal is ever read as HTML.

const SVG = "http://www.w3.org/2000/svg";

// el("p", {class: "note"}, "text", el("b", {}, "bold")); a property that is null or false is left out.
export function el(name, properties, ...children) {
  return filled(document.createElement(name), properties, children);
}

export function svg(name, properties, ...children) {
  return filled(document.createElementNS(SVG, name), properties, children);
}

function filled(element, properties, children) {
  for (const [key, value] of Object.entries(properties ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) listenTo(element, key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

const HANDLERS = Symbol("handlers");

// One listener for each event, which does what the element was last told to do.
function listenTo(element, event, handler) {
  element[HANDLERS] ??= {};
  if (!(event in element[HANDLERS])) element.addEventListener(event, (heard) => element[HANDLERS][event]?.(heard));
  element[HANDLERS][event] = handler;
}

// In place of what is there. What stays the same is not touched: a page that is drawn again under a person's fingers must not
// throw them out, nor scroll away, close what they opened, or lose what they have selected.
export function show(parent, ...children) {
  const focused = document.activeElement;
  const key = parent.contains(focused) ? focused.dataset.key : undefined;
  become(parent, children.flat(Infinity).filter((child) => child));
  if (key !== undefined && document.activeElement !== focused) parent.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}

function become(parent, wanted) {
  const there = [...parent.childNodes];
  wanted.forEach((child, place) => {
    if (place < there.length) replaced(there[place], child);
    else parent.append(child);
  });
  there.slice(wanted.length).forEach((child) => child.remove());
}

function replaced(there, wanted) {
  if (there.nodeName !== wanted.nodeName || there.dataset?.key !== wanted.dataset?.key) return there.replaceWith(wanted);
  if (there.nodeType !== Node.ELEMENT_NODE) {
    if (there.data !== wanted.data) there.data = wanted.data;
    return;
  }
  for (const { name, value } of wanted.attributes) if (there.getAttribute(name) !== value) there.setAttribute(name, value);
  for (const { name } of [...there.attributes]) if (!wanted.hasAttribute(name) && !(name === "open" && there.nodeName === "DETAILS")) there.removeAttribute(name);
  for (const [event, handler] of Object.entries(wanted[HANDLERS] ?? {})) listenTo(there, event, handler);
  for (const event of Object.keys(there[HANDLERS] ?? {})) if (!wanted[HANDLERS]?.[event]) delete there[HANDLERS][event];
  become(there, [...wanted.childNodes]);
}

export function section(title, ...children) {
  return el("section", {}, el("h2", {}, title), children);
}

export function none(text) {
  return el("p", { class: "none" }, text);
}

// A command and a button that copies it.
export function command(text) {
  const status = el("span", { role: "status", class: "copied" });
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      status.textContent = "copied";
    } catch {
      status.textContent = "the browser does not allow copying here: select the text and copy it by hand";
    }
  };
  const button = el("button", { type: "button", class: "copy", onclick: copy, "aria-label": `Copy ${text}`, "data-key": `copy ${text}` }, "Copy");
  return el("div", { class: "command" }, el("code", {}, text), button, status);
}

// The end of something that was said, folded away until somebody wants to read it.
export function tail(title, lines, key, ...more) {
  return el("details", { class: "tail", "data-key": key }, el("summary", {}, title), el("pre", { tabindex: "0", "aria-label": title }, lines.join("\n")), more);
}

export function badge(word, kind) {
  return el("span", { class: `badge ${kind}` }, word);
}
