// The picture of a directed graph: layers from left to right, arrows as wide as they are strong.

function dagStyle(width) {
  const bold = measureIn("600 12px");
  const card = 104;
  const names = (id) => breakName(variableName(id), card - 12, bold);
  return { card, gap: 44, names, width, cardHeight: (id) => 22 + 14 * names(id).length };
}

function linkedIds() {
  const linked = new Set(content.graph.edges.flatMap((edge) => [edge.from, edge.to]));
  return everyId.filter((id) => linked.has(id));
}

function aloneInDag() {
  const linked = new Set(linkedIds());
  return everyId.filter((id) => !linked.has(id));
}

/** The gap between layers widens while the width allows. */
function layDagToFit(width) {
  const style = dagStyle(width);
  let drawing = layDag(linkedIds(), content.graph.edges, style);
  const nGaps = Math.round((drawing.width - style.card) / (style.card + style.gap));
  if (nGaps > 0) {
    const gap = (width - style.card * (nGaps + 1)) / nGaps;
    style.gap = clamp(gap, 34, 110);
    drawing = layDag(linkedIds(), content.graph.edges, style);
  }
  return { style, drawing };
}

function arcPath({ route, y0, y1 }, card) {
  const points = [[route[0].x + card, y0]];
  for (const dummy of route.slice(1, -1)) {
    points.push([dummy.x, dummy.y], [dummy.x + card, dummy.y]);
  }
  points.push([route[route.length - 1].x - 6, y1]);
  let path = "M" + points[0].map((value) => value.toFixed(1)).join(" ");
  for (let k = 1; k < points.length; k += 1) {
    const [[ax, ay], [bx, by]] = [points[k - 1], points[k]];
    const bend = (ax + bx) / 2;
    path += `C${bend.toFixed(1)} ${ay.toFixed(1)} ${bend.toFixed(1)} ${by.toFixed(1)} `
      + `${bx.toFixed(1)} ${by.toFixed(1)}`;
  }
  return path;
}

function arcWidth(edge) {
  return Math.max(0.8, 7 * (edge[state.width] || 0) / strongest[state.width]);
}

function drawArc(one, card) {
  const { arc, route, y1 } = one;
  const end = route[route.length - 1];
  const half = Math.max(3, arcWidth(arc) * 0.5 + 2);
  const isHidden = variables[arc.from].latent && variables[arc.to].latent;
  const kind = isHidden ? " hidden-edge" : "";
  const group = draw("g", { class: "arc" });
  group.append(
    draw("title", {}, `${variableName(arc.from, 80)} \u2192 ${variableName(arc.to, 80)}: `
      + (arc.bits === null ? "both continuous" : formatBits(arc.bits) + " bits")),
    draw("path", { d: arcPath(one, card), class: "edge" + kind, "stroke-width": arcWidth(arc) }),
    draw("path", { class: "arrow" + kind,
      d: `M${end.x} ${y1.toFixed(1)}l${-7} ${-half}v${2 * half}Z` }),
  );
  return group;
}

function drawDag() {
  const { style, drawing } = layDagToFit(pictureWidth() - 4);
  const drawn = draw("g", { class: "view" });
  const cardStyle = { card: style.card, names: (node) => style.names(node.id) };
  drawn.append(
    ...drawing.routes.map((one) => drawArc(one, style.card)),
    ...drawing.nodes.map((node) => drawCard({ node, x: node.x, y: node.y, card: node.height },
      cardStyle)),
  );
  state.places = new Map(drawing.nodes.map((node) => [node.id, { x: node.x + style.card / 2, y: node.y }]));
  state.joints = drawing.routes.map(({ arc }) => ({ from: arc.from, to: arc.to }));
  const shifted = draw("g", { class: "view" }, draw("g", { transform: "translate(2 1)" }, ...drawn.childNodes));
  return makeCanvas(shifted, { width: drawing.width + 4, height: drawing.height + 6 });
}

/** Narrow: every variable after those that it depends on, with their names. */
function listDag() {
  const layer = findLayers(linkedIds(), content.graph.edges);
  const ids = linkedIds().sort((a, b) => layer.get(a) - layer.get(b) || a - b);
  const parents = new Map(ids.map((id) => [id, []]));
  for (const edge of content.graph.edges) parents.get(edge.to).push(edge);
  state.places = null;
  return make("ul", { class: "arcs" }, ids.map((id) => {
    const from = parents.get(id).sort((a, b) => (b.bits || 0) - (a.bits || 0));
    const said = from.map((edge) => variableName(edge.from, 40)
      + (edge.bits === null ? "" : ` (${formatBits(edge.bits)} bits)`)).join(", ");
    return make("li", {}, make("span", { class: "line" },
      button(variableName(id, 60), () => openVariable(id), { class: "link", "data-key": "node-" + id }),
      miniBar(id, 92)), said ? make("span", { class: "note" }, "from " + said) : null);
  }));
}
