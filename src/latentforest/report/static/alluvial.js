// Two hidden variables: how the states of one are spread over those of the other.

const MOST_RIBBONS = 8;
const pair = { a: null, b: null };

/** Counts of two hidden variables: given for related pairs, else counted in the embedded rows. */
function crosstab(a, b) {
  for (const one of content.rows.crosstabs) {
    if (one.a === a && one.b === b) return one.counts;
    if (one.a === b && one.b === a) return one.counts[0].map((_, k) => one.counts.map((row) => row[k]));
  }
  const [left, right] = [a, b].map((id) => content.rows.latents.find((one) => one.variable === id));
  if (!left || !right) return null;
  const counts = variables[a].states.map(() => variables[b].states.map(() => 0));
  left.states.forEach((code, row) => {
    if (code >= 0 && right.states[row] >= 0) counts[code][right.states[row]] += 1;
  });
  return counts;
}

/** The most related pair with up to six states each, or the most related one. */
function choosePair() {
  const small = content.rows.crosstabs.find(({ a, b }) =>
    variables[a].states.length <= 6 && variables[b].states.length <= 6);
  const first = small || content.rows.crosstabs[0];
  if (first) Object.assign(pair, { a: first.a, b: first.b });
  else if (latentIds.length > 1) Object.assign(pair, { a: latentIds[0], b: latentIds[1] });
}

function stack(sizes, scale, gap) {
  let y = 0;
  return sizes.map((size) => {
    const at = y;
    y += size * scale + gap;
    return at;
  });
}

function ribbon(x0, y0, x1, y1, tall) {
  const bend = (x0 + x1) / 2;
  return `M${x0} ${y0}C${bend} ${y0} ${bend} ${y1} ${x1} ${y1}V${y1 + tall}`
    + `C${bend} ${y1 + tall} ${bend} ${y0 + tall} ${x0} ${y0 + tall}Z`;
}

/** Heights of texts that stay apart. */
function spreadTexts(wished, least) {
  const ys = [...wished];
  for (let k = 1; k < ys.length; k += 1) ys[k] = Math.max(ys[k], ys[k - 1] + least);
  return ys;
}

function drawSide(svg, id, sizes, tops, scale, x, side, isSlim) {
  const middles = spreadTexts(sizes.map((size, k) => tops[k] + size * scale / 2), 15);
  const measure = measureIn("12px");
  const room = isSlim ? 86 : 180;
  const widest = Math.max(...sizes.map((size) => measure(formatCount(size))));
  sizes.forEach((size, k) => {
    if (size <= 0) return;
    svg.append(draw("rect", { x: side < 0 ? x - 14 : x, y: tops[k], width: 14, height: Math.max(0.6, size * scale),
      style: { fill: stepColour("state", k, sizes.length) } }));
    const name = fitText(stateTitle(id, k, 60), room - widest - 10, measure);
    const [y, anchor] = [middles[k] + 4, side < 0 ? "end" : "start"];
    svg.append(draw("text", { x: side < 0 ? x - 24 : x + 24 + widest, y, "text-anchor": "end", class: "quiet" }, formatCount(size)),
      draw("text", { x: x + side * (34 + widest), y, "text-anchor": anchor }, name));
  });
}

function drawAlluvial(counts, width) {
  const [rows, columns] = [counts.map((row) => row.reduce((a, b) => a + b, 0)),
    counts[0].map((_, k) => counts.reduce((sum, row) => sum + row[k], 0))];
  const total = rows.reduce((a, b) => a + b, 0) || 1;
  const isSlim = width < 620;
  const [height, gap, side] = [300, 8, isSlim ? 110 : 204];
  const most = Math.max(rows.length, columns.length);
  const scale = (height - gap * (most - 1)) / total;
  const centred = (sizes) => {
    const tops = stack(sizes, scale, gap);
    const spare = (height - total * scale - gap * (sizes.length - 1)) / 2;
    return tops.map((top) => top + spare + 26);
  };
  const [left, right] = [centred(rows), centred(columns)];
  const [x0, x1] = [side, width - side];
  const svg = draw("svg", { width, height: height + 34, viewBox: `0 0 ${width} ${height + 34}`, class: "alluvial", role: "img",
    "aria-label": `How the states of ${variableName(pair.a, 60)} are spread over those of ${variableName(pair.b, 60)}` });
  const [from, into] = [[...left], [...right]];
  counts.forEach((row, i) => row.forEach((count, j) => {
    if (count <= 0) return;
    const tall = count * scale;
    svg.append(draw("path", { d: ribbon(x0, from[i], x1, into[j], tall), class: "ribbon",
      style: { fill: stepColour("state", i, rows.length) } },
    draw("title", {}, `${stateTitle(pair.a, i, 40)} and ${stateTitle(pair.b, j, 40)}: ${formatCount(count)}`)));
    from[i] += tall;
    into[j] += tall;
  }));
  drawSide(svg, pair.a, rows, left, scale, x0, -1, isSlim);
  drawSide(svg, pair.b, columns, right, scale, x1, 1, isSlim);
  const bold = measureIn("600 13px");
  svg.append(draw("text", { x: x0, y: 14, "text-anchor": "end", class: "title" }, fitText(variableName(pair.a), side, bold)),
    draw("text", { x: x1, y: 14, class: "title" }, fitText(variableName(pair.b), side, bold)));
  return svg;
}

/** More than eight states: a table of counts, tinted by the share of the row. */
function makeCountTable(counts) {
  return make("div", { class: "scroll" }, make("table", { class: "plain counts" }, make("thead", {}, make("tr", {},
    make("th", { scope: "col" }, variableName(pair.a, 40)),
    counts[0].map((_, j) => make("th", { scope: "col", class: "number" }, stateTitle(pair.b, j, 20))))),
  make("tbody", {}, counts.map((row, i) => {
    const sum = row.reduce((a, b) => a + b, 0) || 1;
    return make("tr", {}, make("th", { scope: "row" }, stateTitle(pair.a, i, 30)), row.map((count) => {
      const { ground, text } = heatColours(count / sum);
      return make("td", { class: "number" + (count ? "" : " zero"), style: count ? { background: ground, color: text } : {} },
        formatCount(count));
    }));
  }))));
}

function pairMenu(key) {
  const menu = make("select", { "aria-label": key === "a" ? "First hidden variable" : "Second hidden variable",
    "data-key": "pair-" + key, on: { change: () => { pair[key] = Number(menu.value); drawPair(); } } },
    content.rows.latents.map(({ variable }) => make("option", { value: variable, selected: variable === pair[key] },
      variableName(variable, 60))));
  return menu;
}

function drawPair() {
  const holder = byId("rows-pair");
  if (!holder || content.rows.latents.length < 2) return;
  if (pair.a === null) choosePair();
  const counts = pair.a === pair.b ? null : crosstab(pair.a, pair.b);
  const isTable = counts && Math.max(counts.length, counts[0].length) > MOST_RIBBONS;
  keepFocus(holder, () => fill(holder, make("div", { class: "pair-menus" }, pairMenu("a"), " by ", pairMenu("b")),
    counts ? (isTable ? makeCountTable(counts) : drawAlluvial(counts, holder.clientWidth || 1152))
      : make("p", { class: "note" }, "Choose two different variables.")));
}
