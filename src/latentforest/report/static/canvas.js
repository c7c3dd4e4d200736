// Moving about in the picture: zoom, pan, arrow keys from node to node by place.

const TALLEST_FRAME = 860;
const LEAST_SCALE = 0.72;
const view = { scale: null, x: 0, y: 0, width: 0, height: 0 };

/** An SVG as wide as its frame. Drawings that are too wide are shown in part, to be moved. */
function makeCanvas(drawn, size) {
  const frame = pictureWidth();
  const fit = Math.min(1, frame / size.width);
  const least = state.printWidth ? fit : Math.max(fit, LEAST_SCALE);
  const isKept = view.scale !== null && view.drawing
    && Math.abs(view.drawing.width - size.width) < 1 && !state.printWidth;
  if (!isKept) Object.assign(view, { scale: least, x: 0, y: 0 });
  Object.assign(view, { drawing: size, fit, width: frame,
    height: Math.min(size.height * Math.max(fit, view.isMoved ? fit : least),
      state.printWidth ? Infinity : Math.max(TALLEST_FRAME, size.height * fit)) });
  const svg = draw("svg", { class: "picture", role: "group", "aria-label": pictureLabel(),
    width: frame, height: Math.max(40, view.height) }, drawn);
  applyView(svg);
  if (!state.printWidth) svg.addEventListener("pointerdown", (event) => beginDrag(event, svg));
  svg.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoomBy(Math.exp(-event.deltaY * 0.004), event.offsetX, event.offsetY);
  }, { passive: false });
  return svg;
}

const isWholeShown = () => view.drawing.width * view.scale <= view.width + 1
  && view.drawing.height * view.scale <= view.height + 1;

function applyView(svg) {
  const { scale, drawing } = view;
  const spare = (frame, extent) => Math.max(0, extent * scale - frame);
  view.x = clamp(view.x, 0, spare(view.width, drawing.width));
  view.y = clamp(view.y, 0, spare(view.height, drawing.height));
  const left = Math.max(0, (view.width - drawing.width * scale) / 2);
  svg.querySelector(".view").setAttribute("transform",
    `translate(${(left - view.x).toFixed(1)} ${(2 - view.y).toFixed(1)}) scale(${scale.toFixed(4)})`);
  svg.classList.toggle("movable", !isWholeShown());
}

function currentCanvas() {
  return byId("picture-frame").querySelector("svg.picture");
}

function zoomBy(factor, atX, atY) {
  const next = clamp(view.scale * factor, Math.min(view.fit, 0.2), 4);
  const ratio = next / view.scale;
  view.x = (view.x + atX) * ratio - atX;
  view.y = (view.y + atY) * ratio - atY;
  view.scale = next;
  applyView(currentCanvas());
}

function zoomToFit() {
  Object.assign(view, { scale: view.fit, x: 0, y: 0 });
  applyView(currentCanvas());
}

function beginDrag(event, svg) {
  if (event.button !== 0 || isWholeShown()) return;
  const start = { x: event.clientX + view.x, y: event.clientY + view.y };
  let isMoved = false;
  const move = (now) => {
    const [x, y] = [start.x - now.clientX, start.y - now.clientY];
    if (!isMoved && Math.hypot(x - view.x, y - view.y) < 4) return;
    isMoved = true;
    Object.assign(view, { x, y });
    applyView(svg);
  };
  const end = () => {
    window.removeEventListener("pointermove", move);
    window.removeEventListener("pointerup", end);
    if (isMoved) {
      const swallow = (click) => { click.stopPropagation(); click.preventDefault(); };
      svg.addEventListener("click", swallow, { capture: true, once: true });
      setTimeout(() => svg.removeEventListener("click", swallow, { capture: true }), 50);
    }
  };
  window.addEventListener("pointermove", move);
  window.addEventListener("pointerup", end);
}

/** Bring a node into the frame, then into the window. */
function showNode(element) {
  if (!element) return;
  const svg = currentCanvas();
  const { place } = element;
  if (place && view.drawing && svg.classList.contains("movable")) {
    view.x = place.x * view.scale - view.width / 2;
    view.y = place.y * view.scale - view.height / 2;
    applyView(svg);
  }
  element.focus({ preventScroll: true });
  element.scrollIntoView({ block: "nearest" });
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** The nearest node in a direction; what lies aside counts more. */
function nextNode(nodes, from, [dx, dy]) {
  let [best, least] = [null, Infinity];
  for (const node of nodes) {
    const [x, y] = [node.place.x - from.place.x, node.place.y - from.place.y];
    const along = x * dx + y * dy;
    const aside = Math.abs(x * dy) + Math.abs(y * dx);
    if (along <= 1 || node === from) continue;
    const cost = along + 2.5 * aside;
    if (cost < least) [best, least] = [node, cost];
  }
  return best;
}

function moveByArrow(event) {
  const direction = ARROWS[event.key];
  const from = event.target.closest ? event.target.closest(".node") : null;
  if (!direction || !from || !from.place) return;
  event.preventDefault();
  const nodes = [...byId("picture-frame").querySelectorAll(".node")]
    .filter((node) => node.place && !node.classList.contains("handle"));
  const next = nextNode(nodes, from, direction);
  if (next) showNode(next);
}

function pictureLabel() {
  return "Picture: " + countOf(latentIds.length, "hidden variable") + " over "
    + countOf(columnIds.length, "column") + ". Arrow keys go from node to node, Enter opens one.";
}
