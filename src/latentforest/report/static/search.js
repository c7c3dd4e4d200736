// How the search went: BIC as steps, refused steps as rings, the largest gains named.

function searchPath(steps, x, y) {
  let path = "";
  let best = null;
  steps.forEach((step, k) => {
    if (!step.accepted && best !== null) return;
    path += best === null ? `M${x(k).toFixed(1)} ${y(step.bic).toFixed(1)}`
      : `H${x(k).toFixed(1)}V${y(step.bic).toFixed(1)}`;
    best = step.bic;
  });
  return path + `H${x(steps.length - 1).toFixed(1)}`;
}

function listPhases(steps) {
  const phases = [];
  steps.forEach((step, k) => {
    const last = phases[phases.length - 1];
    if (last && last.name === step.phase) last.to = k;
    else phases.push({ name: step.phase, from: k, to: k });
  });
  return phases.filter((phase) => phase.name);
}

function drawPhases(svg, phases, x, y, width) {
  const names = [...new Set(phases.map((phase) => phase.name))];
  const measure = measureIn("11.5px");
  const longest = new Map();
  for (const phase of phases) {
    const rival = longest.get(phase.name);
    if (!rival || phase.to - phase.from > rival.to - rival.from) longest.set(phase.name, phase);
  }
  let free = 0;
  for (const phase of phases) {
    const [from, to] = [phase.from - 0.5, phase.to + 0.5]
      .map((place) => clamp(x(place), x(0), width - 12));
    const tone = names.indexOf(phase.name) % 3;
    svg.append(draw("rect", { x: from, y, width: Math.max(1, to - from - 1), height: 5, class: "phase tone" + tone },
      draw("title", {}, visible(phase.name))));
    const text = visible(phase.name);
    const wide = measure(text);
    const at = clamp((from + to) / 2 - wide / 2, free, width - wide);
    if (longest.get(phase.name) === phase && at >= free) {
      svg.append(draw("text", { x: at, y: y + 20, class: "axis" }, text));
      free = at + wide + 12;
    }
  }
}

/** Variables in a sentence of the search; its text may name them by place: {0}, {1}. */
function stepSentence(step) {
  return cutText(visible(step.text || step.operator), 110);
}

function nameGains(svg, search, x, y, width) {
  const measure = measureIn("12px");
  const taken = [];
  for (const k of search.named || []) {
    const step = search.steps[k];
    const before = search.steps.slice(0, k).reverse().find((one) => one.accepted);
    const gain = before ? " +" + formatFixed(step.bic - before.bic, 0) : "";
    const room = width - 74 - measure(":" + gain);
    const text = fitText(stepSentence(step), room, measure) + (gain ? ":" : "");
    const wide = measure(text + gain) + 4;
    const isRight = x(k) + 14 + wide < width;
    const top = before ? (y(step.bic) + y(before.bic)) / 2 + 4 : y(step.bic) + 16;
    const at = isRight ? x(k) + 10 : Math.max(70, x(k) - 10 - wide);
    let line = top;
    while (taken.some((one) => Math.abs(one.line - line) < 15 && one.at < at + wide && at < one.end)) line += 15;
    taken.push({ line, at, end: at + wide });
    svg.append(draw("path", { d: `M${isRight ? x(k) + 2 : x(k) - 8} ${line - 4}h6`, class: "rule" }),
      draw("text", { x: at, y: line, class: "label" }, text, draw("tspan", { class: "quiet" }, gain)));
  }
}

function drawSearch(fit) {
  const holder = byId("fit-search");
  const search = fit.search;
  const steps = search ? search.steps.filter((step) => typeof step.bic === "number") : [];
  holder.hidden = steps.length < 2;
  if (holder.hidden) return;
  const [width, height, left] = [Math.max(340, Math.min(1152, holder.clientWidth || 1152)), 300, 64];
  const bics = steps.filter((step) => step.accepted).map((step) => step.bic);
  const [low, high] = [Math.min(...bics), Math.max(...bics)];
  const { svg, y, bottom } = chartFrame(width, height, low, high, left);
  const x = (k) => left + 8 + (width - left - 20) * k / (steps.length - 1);
  svg.setAttribute("aria-label", `BIC after each of ${steps.length} steps, from ${formatFixed(bics[0], 0)}`
    + ` to ${formatFixed(bics[bics.length - 1], 0)}.`);
  svg.append(draw("path", { d: searchPath(steps, x, y), class: "own" }));
  steps.forEach((step, k) => {
    if (step.accepted) return;
    svg.append(draw("circle", { cx: x(k), cy: Math.min(y(step.bic), bottom), r: 2.6, class: "ring" },
      draw("title", {}, `Refused: ${stepSentence(step)}`)));
  });
  nameGains(svg, { ...search, steps }, x, y, width);
  const last = formatFixed(bics[bics.length - 1], 0);
  svg.append(draw("text", { x: width - 4, y: y(bics[bics.length - 1]) + 18, "text-anchor": "end",
    class: "label own-label" }, last));
  drawPhases(svg, listPhases(steps), x, bottom + 6, width);
  svg.append(draw("text", { x: left, y: height - 4, class: "axis" }, "step 1"),
    draw("text", { x: width, y: height - 4, "text-anchor": "end", class: "axis" }, String(steps.length)));
  const rings = steps.some((step) => !step.accepted) ? " Rings are steps that were tried and refused." : "";
  const named = (search.named || []).length ? " The largest gains are named." : "";
  fill(holder, make("h3", { id: "search" }, "How the search went"),
    make("p", { class: "note" }, "BIC after each step." + rings + named), svg);
}

function drawFit() {
  if (!content.fit || !byId("fit-models")) return;
  drawModels(content.fit);
  drawClassNumbers(content.fit);
  drawResiduals(content.fit);
  drawCertainty(content.fit);
  drawSearch(content.fit);
}
