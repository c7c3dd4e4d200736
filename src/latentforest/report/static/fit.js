// Fit: this model against others, and whether one hidden variable would do.

function modelDot(bic, low, high) {
  const part = high > low ? (bic - low) / (high - low) : 1;
  return draw("svg", { viewBox: "0 0 100 16", class: "model-dot", "aria-hidden": "true" },
    draw("path", { d: "M3 8H97", class: "rule" }),
    draw("circle", { cx: 4 + 92 * part, cy: 8, r: 4.5 }));
}

function drawModels(fit) {
  const bics = fit.models.map((model) => model.bic);
  const [low, high] = [Math.min(...bics), Math.max(...bics)];
  const isAlone = fit.models.length < 2;
  const rows = fit.models.map((model) => make("tr", { class: model.is_this ? "this" : null },
    make("th", { scope: "row" }, visible(model.name) + (model.is_this ? " (this one)" : ""),
      model.detail ? make("span", { class: "through" }, visible(model.detail)) : null),
    make("td", { class: "number" }, formatCount(model.n_parameters)),
    make("td", { class: "number" }, formatFixed(model.bic, 0)),
    isAlone ? null : make("td", { class: "number" },
      high - model.bic < 0.5 ? "" : formatFixed(high - model.bic, 0)),
    isAlone ? null : make("td", { class: "dot" }, modelDot(model.bic, low, high))));
  fill(byId("fit-models"), make("h3", {}, isAlone ? "This model" : "Against other models"),
    make("p", { class: "note" }, isAlone ? (content.missing && content.missing.compare)
      || "No other model was fitted to these rows." : "All fitted to the same rows."),
    make("div", { class: "scroll" }, make("table", { class: "plain models" }, make("thead", {}, make("tr", {},
      make("th", { scope: "col" }, "Model"), make("th", { scope: "col", class: "number" }, "Parameters"),
      make("th", { scope: "col", class: "number" }, "BIC"),
      isAlone ? null : make("th", { scope: "col", class: "number" }, "Behind by"),
      isAlone ? null : make("th", { scope: "col", class: "dot" },
        make("span", {}, "worse"), make("span", {}, "better")))), make("tbody", {}, rows))),
    makeGoodness(fit.goodness));
}

function makeGoodness(goodness) {
  if (!goodness || typeof goodness.g2 !== "number") return null;
  const p = goodness.p;
  const said = typeof p === "number" ? (p < 0.001 ? ", p < 0.001" : `, p = ${p.toFixed(3)}`) : "";
  return make("p", { class: "note below" }, `Against the table itself: G\u00b2 = ${formatFixed(goodness.g2, 1)}`
    + ` with ${formatCount(goodness.df)} degrees of freedom${said}.`);
}

function elbowSentence(elbow, own) {
  const best = elbow.bic.indexOf(Math.max(...elbow.bic));
  const count = elbow.n_states.length;
  const [first, last] = [elbow.n_states[0], elbow.n_states[count - 1]];
  const atEnd = best === count - 1 && count > 1 ? " The curve still rises at the end; more classes were not tried." : "";
  const top = `${countOf(elbow.n_states[best], "class").replace("classs", "classes")} would be the best number.`;
  if (own === null) return top + atEnd;
  if (elbow.bic[best] < own - 5) return `No: none of ${first} to ${last} classes comes near.${atEnd}`;
  if (elbow.bic[best] > own + 5) return `Yes, by BIC: ${top}${atEnd}`;
  return `About as well: ${top}${atEnd}`;
}

/** Axis, grid and scales shared by the line charts. */
function chartFrame(width, height, low, high, left) {
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img",
    style: { "max-width": width + "px" } });
  const bottom = height - 46;
  const pad = (high - low) * 0.06 || 1;
  const y = (value) => bottom - (value - low + pad) / (high - low + 2 * pad) * (bottom - 18);
  for (const tick of makeTicks(low, high, 5)) {
    svg.append(draw("path", { d: `M${left} ${y(tick)}H${width}`, class: "rule" }),
      draw("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end", class: "axis" }, formatFixed(tick, 0)));
  }
  return { svg, y, bottom };
}

/** A text beside a point, moved to stay inside the drawing. */
function placedText(text, x, y, kind, width, weight) {
  const wide = measureIn((weight || "400") + " 12px")(text);
  const left = clamp(x - wide / 2, 60, width - wide - 2);
  return draw("text", { x: left, y, class: kind }, text);
}

function drawClassNumbers(fit) {
  const { elbow } = fit;
  const holder = byId("fit-elbow");
  holder.hidden = !elbow || elbow.bic.length < 2;
  if (holder.hidden) return;
  const mine = fit.models.find((model) => model.is_this);
  const isTree = latentIds.length > 1;
  const own = isTree && mine ? mine.bic : null;
  const all = own === null ? elbow.bic : [...elbow.bic, own];
  const [width, height, left] = [clamp(holder.clientWidth || 540, 320, 540), 260, 64];
  const { svg, y, bottom } = chartFrame(width, height, Math.min(...all), Math.max(...all), left);
  const x = (k) => left + 6 + (width - left - 14) * k / (elbow.bic.length - 1);
  const points = elbow.bic.map((bic, k) => `${x(k).toFixed(1)} ${y(bic).toFixed(1)}`);
  const best = elbow.bic.indexOf(Math.max(...elbow.bic));
  svg.setAttribute("aria-label", "BIC by number of classes. " + elbowSentence(elbow, own));
  svg.append(draw("path", { d: "M" + points.join("L"), class: "curve" }));
  elbow.bic.forEach((bic, k) => svg.append(draw("circle", { cx: x(k), cy: y(bic), r: k === best ? 5 : 3,
    class: k === best ? "best" : "point" }),
  draw("text", { x: x(k), y: bottom + 18, "text-anchor": "middle", class: "axis" }, elbow.n_states[k])));
  svg.append(draw("text", { x: width, y: bottom + 38, "text-anchor": "end", class: "axis" },
    "classes of a single hidden variable"));
  const isUp = own !== null && Math.abs(y(own) - y(elbow.bic[best])) < 34;
  svg.append(placedText(`one hidden variable, ${elbow.n_states[best]} classes: ${formatFixed(elbow.bic[best], 0)}`,
    x(best), y(elbow.bic[best]) + (isUp ? 26 : -12), "label", width));
  if (own !== null) {
    const text = `this tree, ${latentIds.length} hidden variables: ${formatFixed(own, 0)}`;
    svg.append(draw("path", { d: `M${left} ${y(own)}H${width}`, class: "own" }),
      draw("text", { x: left + 4, y: y(own) + (isUp ? -6 : 16), class: "label own-label" }, text));
  }
  fill(holder, make("h3", {}, isTree ? "Would one hidden variable do?" : "How many classes?"),
    make("p", { class: "note" }, elbowSentence(elbow, own)), svg);
}
