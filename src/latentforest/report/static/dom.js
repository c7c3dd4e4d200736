// Elements by name. Texts enter as text nodes only; nothing here parses markup.

const SVG = "http://www.w3.org/2000/svg";

function assign(element, attributes) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
    } else if (name === "style") {
      for (const [property, text] of Object.entries(value)) element.style.setProperty(property, text);
    } else element.setAttribute(name, value === true ? "" : value);
  }
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

/** make("p", {class: "note"}, "text", child, …) */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  assign(element, attributes);
  return append(element, children);
}

function draw(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  assign(element, attributes);
  return append(element, children);
}

/** A text that may be broken after underscores and slashes. */
function soft(text) {
  return text.split(/(?<=[_/])(?=.)/).flatMap((part, k) => (k ? [make("wbr"), part] : [part]));
}

function fill(element, ...children) {
  element.replaceChildren();
  return append(element, children);
}

function byId(id) {
  return document.getElementById(id);
}

function button(text, handler, attributes) {
  return make("button", { type: "button", on: { click: handler }, ...attributes }, text);
}

/** Redraw a part of the page; what had the focus by its key has it again. */
function keepFocus(container, redraw, fallback) {
  const held = container.contains(document.activeElement) ? document.activeElement : null;
  const key = held && held.getAttribute("data-key");
  redraw();
  if (!held || container.contains(document.activeElement)) return;
  const next = (key && findKey(container, key)) || (fallback && fallback());
  if (next) next.focus({ preventScroll: true });
}

function findKey(container, key) {
  return [...container.querySelectorAll("[data-key]")]
    .find((element) => element.getAttribute("data-key") === key) || null;
}

const measuring = document.createElement("canvas").getContext("2d");
const widths = new Map();

/** The width of texts in a font of the page; texts seen before are remembered. */
function measureIn(font) {
  const family = getComputedStyle(document.body).fontFamily;
  return (text) => {
    const key = font + "\u0000" + text;
    if (!widths.has(key)) {
      if (widths.size > 50000) widths.clear();
      measuring.font = font + " " + family;
      widths.set(key, measuring.measureText(text).width);
    }
    return widths.get(key);
  };
}

/** Hand a text to the reader as a file. */
function saveFile(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = make("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** Say something to readers of screens. */
function announce(text) {
  byId("said").textContent = text;
}
