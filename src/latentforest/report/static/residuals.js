// Residuals: the lower triangle of pairs in the order of the tree, and the largest in words.

const STEPS = [10, 4, 2];

function stepOf(value) {
  return STEPS.findIndex((step) => value > step);
}

const STEP_CLASSES = ["r10", "r4", "r2"];

function residualTip(residuals, [i, j, value, judged, sign]) {
  const names = [residuals.order[i], residuals.order[j]].map((id) => variableName(id, 60));
  const way = sign > 0 ? "; they go together more than the model says" : sign < 0
    ? "; they go together less than the model says" : "";
  return `${names[0]} and ${names[1]}: ${formatFixed(value, 1)}${way}`
    + (judged ? "" : " (too few rows to judge)");
}

function residualMark(residuals, pair, cell) {
  const [a, b, value, judged] = pair;
  const [i, j] = [Math.max(a, b), Math.min(a, b)];
  const step = stepOf(value);
  if (step < 0 || (!judged && value <= 4)) return null;
  const tip = draw("title", {}, residualTip(residuals, pair));
  if (!judged) {
    return draw("circle", { cx: (j + 0.5) * cell, cy: (i + 0.5) * cell, r: 1.6, class: "few" }, tip);
  }
  return draw("rect", { x: j * cell + 0.5, y: i * cell + 0.5, width: cell - 1, height: cell - 1,
    class: STEP_CLASSES[step] }, tip);
}

function residualLegend(residuals, left) {
  const counts = { r10: 0, r4: 0, r2: 0, low: 0, few: 0, silent: 0 };
  for (const [, , value, judged] of residuals.pairs) {
    if (!judged) counts[value > 4 ? "few" : "silent"] += 1;
    else counts[STEP_CLASSES[stepOf(value)] || "low"] += 1;
  }
  const rows = [["r10", "above 10"], ["r4", "4 to 10"], ["r2", "2 to 4"], ["low", "below 2"],
    ["few", "above 4, few rows"], ["silent", "4 or less, few rows"]];
  return make("table", { class: "legend", style: { left: left + "px" } }, make("tbody", {}, rows.filter(([kind]) =>
    counts[kind] || kind === "low").map(([kind, text]) => make("tr", {},
    make("td", {}, make("span", { class: "swatch " + kind })), make("td", {}, text),
    make("td", { class: "number" }, countOf(counts[kind], "pair"))))));
}

function drawTriangle(residuals) {
  const n = residuals.order.length;
  const room = state.printWidth ? 600 : byId("residual-triangle").clientWidth || 700;
  const measure = measureIn("11px");
  const names = residuals.order.map((id) => fitText(variableName(id), Math.min(210, room / 3), measure));
  const widthAt = (size) => Math.max(...names.map((name, k) => k * size + measure(name) + 8));
  let cell = 22;
  while (cell > 11 && widthAt(cell) > room) cell -= 0.5;
  const width = widthAt(cell);
  const svg = draw("svg", { width: Math.ceil(width), height: n * cell + 2, class: "triangle",
    viewBox: `0 0 ${Math.ceil(width)} ${n * cell + 2}`, role: "img",
    "aria-label": `Residuals of pairs of columns: ${residuals.n_high} of ${residuals.n_judged} pairs`
      + " that can be judged are above 4. The largest are in the table beside it." });
  names.forEach((name, k) => {
    if (k) svg.append(draw("rect", { x: 0, y: k * cell, width: k * cell, height: cell, class: "row" }));
    svg.append(draw("text", { x: k * cell + 4, y: (k + 0.5) * cell + 4 },
      draw("title", {}, variableName(residuals.order[k])), name));
  });
  const beside = names.map((name, k) => (k * cell < 130 ? k * cell + measure(name) + 30 : 0));
  svg.legendAt = Math.max(0, Math.min(room - 190, Math.max(...beside)));
  for (const pair of residuals.pairs) {
    const mark = residualMark(residuals, pair, cell);
    if (mark) svg.append(mark);
  }
  return svg;
}

const RESIDUAL_WORDS = {
  chi2: "The residual says how far their two-way table is from what the model expects; about 1 is chance.",
  correlation: "The residual says how far their correlation is from what the model expects; about 1 is chance.",
  mixed: "The residual says how far the two go together beyond what the model expects; about 1 is chance.",
};

function explainResiduals(residuals) {
  const left = residuals.n_columns_left_out && !residuals.note
    ? ` Shown are the ${residuals.order.length} columns with the largest residuals;`
      + ` ${formatCount(residuals.n_columns_left_out)} others are left out.` : "";
  const few = residuals.pairs.some(([, , value, judged]) => !judged && value > 4)
    ? " A dot is a pair above 4 that has too few rows to be judged." : "";
  return "Each square is a pair: the column named at the end of its row and the one named at the top"
    + ` of its column. ${RESIDUAL_WORDS[residuals.kind] || RESIDUAL_WORDS.mixed}${few}`
    + (content.graph.kind === "forest" ? " Columns are in the order of the tree." : "") + left;
}

function makeLargest(residuals) {
  const rows = residuals.largest.filter((one) => one.value >= 1).slice(0, 8).map(({ a, b, value }) => make("tr", {},
    make("td", {}, soft(variableName(a, 60))), make("td", {}, soft(variableName(b, 60))),
    make("td", { class: "number" }, formatFixed(value, 1))));
  if (!rows.length) return make("p", { class: "note" }, "No pair that can be judged is left over: all residuals are below 1.");
  return make("table", { class: "plain largest" }, make("thead", {}, make("tr", {},
    make("th", { scope: "col", colspan: 2 }, "Most left over"),
    make("th", { scope: "col", class: "number" }, "Residual"))), make("tbody", {}, rows));
}

function drawResiduals(fit) {
  const { residuals } = fit;
  const holder = byId("fit-residuals");
  holder.hidden = !residuals;
  if (!residuals) return;
  const isShown = residuals.order.length > 1;
  const triangle = isShown ? drawTriangle(residuals) : null;
  fill(byId("residual-head"), make("h3", { id: "residuals" }, "Pairs of columns that the model does not fully explain"),
    make("p", { class: "note" }, isShown ? explainResiduals(residuals) : ""),
    residuals.note ? make("p", { class: "note" }, visible(residuals.note)) : null);
  fill(byId("residual-triangle"), isShown ? make("div", { class: "scroll", tabindex: 0,
    role: "group", "aria-label": "Triangle of residuals" }, triangle) : null,
  isShown ? residualLegend(residuals, triangle.legendAt) : null);
  fill(byId("residual-largest"), makeLargest(residuals));
}
