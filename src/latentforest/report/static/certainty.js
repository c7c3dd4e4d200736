// How clear the states of the rows are: rows by the probability of their likeliest state.

const PRACTICALLY_ALL = 0.98;
const CERTAIN_FROM = 0.2;

function certaintyBars(bins) {
  const [width, height] = [190, 18];
  const first = Math.round(CERTAIN_FROM * bins.length);
  const shown = bins.slice(first);
  const largest = Math.max(...shown, 1e-12);
  const step = width / shown.length;
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, class: "certainty-bars", "aria-hidden": "true",
    preserveAspectRatio: "none" });
  shown.forEach((weight, k) => {
    if (weight <= 0) return;
    const tall = Math.max(0.7, height * weight / largest);
    const isClear = (first + k) / bins.length >= 0.9 - 1e-9;
    svg.append(draw("rect", { x: (k * step + 0.5).toFixed(2), y: (height - tall).toFixed(2),
      width: (step - 1).toFixed(2), height: tall.toFixed(2), class: isClear ? "clear" : "vague" }));
  });
  return svg;
}

function certaintyRow({ latent, bins, clear }) {
  return make("tr", {}, make("th", { scope: "row", title: variableName(latent) },
    button(variableName(latent, 34), () => openVariable(latent), { class: "plain" })),
  make("td", { class: "bars" }, certaintyBars(bins)),
  make("td", { class: "number" }, formatPercent(clear)));
}

function drawCertainty(fit) {
  const holder = byId("fit-certainty");
  const all = [...(fit.certainty || [])].sort((a, b) => a.clear - b.clear || a.latent - b.latent);
  holder.hidden = !all.length;
  if (!all.length) return;
  const vague = all.filter((one) => one.clear < PRACTICALLY_ALL);
  const shown = (vague.length ? vague : all).slice(0, 14);
  const rest = all.length - shown.length;
  const nClear = all.length - vague.length;
  const axis = make("div", { class: "certainty-axis", "aria-hidden": "true" },
    [0.25, 0.5, 0.75, 0.9].map((at) => make("span",
      { style: { left: (100 * (at - CERTAIN_FROM) / (1 - CERTAIN_FROM)).toFixed(2) + "%" } },
      formatPercent(at))));
  fill(holder, make("h3", { id: "certainty" }, "How clear the states of the rows are"),
    make("p", { class: "note" }, "Rows by the probability of their likeliest state. The strong colour is"
      + " 90% or more, called clear."),
    make("table", { class: "certainty" }, make("thead", {}, make("tr", {}, make("th", {}),
      make("th", { class: "bars" }, axis), make("th", { scope: "col", class: "number" }, "clear"))),
    make("tbody", {}, shown.map(certaintyRow))),
    rest > 0 ? make("p", { class: "note below" }, nClear === rest
      ? `The other ${rest}: practically every row is clear.`
      : `The other ${rest} are clearer than these.`) : null);
}
