// How far evidence reaches: the picture again, small; the area of a disc is how far it moved.

const REACH_WIDTH = 300;

function scalePlaces(places) {
  const points = [...places.values()];
  const [xs, ys] = [points.map((point) => point.x), points.map((point) => point.y)];
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const [wide, tall] = [Math.max(...xs) - left || 1, Math.max(...ys) - top || 1];
  const across = (REACH_WIDTH - 20) / wide;
  const down = Math.min(across * 1.75, 260 / tall);
  return { place: ({ x, y }) => ({ x: 10 + (x - left) * across, y: 10 + (y - top) * down }),
    height: 20 + tall * down };
}

function reachDisc(id, place, bits, most) {
  const isSet = state.evidence.has(id);
  const { x, y } = place;
  const base = variables[id].latent ? 2.5 : 1.6;
  const radius = isSet ? 5.5 : base + 6.5 * Math.sqrt(bits / most);
  const isStill = !isSet && bits < 0.005;
  const kind = isSet ? "set" : variables[id].latent ? "latent" : "observed";
  return draw("circle", { cx: x.toFixed(1), cy: y.toFixed(1), r: radius.toFixed(2),
    class: `disc ${kind}${isStill ? " still" : ""}` },
    draw("title", {}, variableName(id, 80) + (isSet ? ": set" : `: ${formatMove(bits)} bits`)));
}

function reachLine(from, to) {
  const bend = (from.x + to.x) / 2;
  return draw("path", { class: "joint",
    d: `M${from.x} ${from.y}C${bend} ${from.y} ${bend} ${to.y} ${to.x} ${to.y}` });
}

function makeReach() {
  if (!state.evidence.size || !state.places || state.places.size < 3) return null;
  const { place, height } = scalePlaces(state.places);
  const bits = new Map([...state.places.keys()].map((id) =>
    [id, state.evidence.has(id) ? 0 : movedBits(id)]));
  const most = Math.max(0.05, ...bits.values());
  const at = new Map([...state.places].map(([id, point]) => [id, place(point)]));
  const svg = draw("svg", { width: "100%", viewBox: `0 0 ${REACH_WIDTH} ${height}`, class: "reach",
    role: "img", "aria-label": "How far what you set reaches; the answers beside it say the same." });
  svg.append(...state.joints.map(({ from, to }) => reachLine(at.get(from), at.get(to))));
  const order = [...at.keys()].sort((a, b) => bits.get(b) - bits.get(a));
  svg.append(...order.map((id) => reachDisc(id, at.get(id), bits.get(id), most)));
  return make("div", { class: "how-far" }, make("h3", {}, "How far it reaches"),
    make("p", { class: "note" }, content.graph.kind === "dag" ? "The picture again. " : "The tree again. ",
      make("span", { class: "you" }, "Orange"), " is set by you; a larger disc has moved more."), svg);
}
