// Ask the model: what is set at the left, what follows at the right.

const FIRST_ANSWERS = 6;
const MOST_ANSWER_BARS = 12;
const wideAnswers = new Set();
let chosen = null;

function movedBits(id) {
  const now = answer();
  if (!now) return 0;
  if (isContinuous(id)) {
    return now.mixtures.has(id) ? bitsMovedBetween(now.mixtures.get(id), prior().mixtures.get(id)) : 0;
  }
  return bitsMoved(now.shares.get(id), prior().shares.get(id));
}

/** Ids in the order of how far they moved; without evidence as they are. */
function orderAnswers(ids) {
  const moved = new Map(ids.map((id) => [id, movedBits(id)]));
  const order = ids.filter((id) => !state.evidence.has(id));
  if (state.evidence.size) order.sort((a, b) => moved.get(b) - moved.get(a) || a - b);
  return { order, moved };
}

function answerHead(id, bits) {
  const name = cutText(shortName(id, null), 90); // the whole name is in the tip
  const isLink = variables[id].latent && profileOf.has(id);
  return make("div", { class: "answer-head" },
    make("h4", { class: variables[id].latent ? "latent" : null, title: variableName(id) },
      isLink ? button(soft(name), () => openVariable(id), { class: "plain" }) : soft(name)),
    state.evidence.size ? make("span", { class: "moved" }, formatMove(bits) + " bits moved") : null);
}

/** Of very many values those that are likeliest now or were before. */
function shownCodes(id, shares, before) {
  const codes = [...shares.keys()];
  if (codes.length <= MOST_ANSWER_BARS || wideAnswers.has(id)) return codes;
  const weight = (code) => Math.max(shares[code], before[code]);
  const best = [...codes].sort((a, b) => weight(b) - weight(a) || a - b).slice(0, MOST_ANSWER_BARS - 2);
  return codes.filter((code) => best.includes(code));
}

function answerBar(id, code, share, before) {
  const name = stateName(id, code, 40);
  return make("button", { type: "button", class: "answer-bar", "data-key": `set-${id}-${code}`,
    "aria-label": `${variableName(id, 60)}: ${stateTitle(id, code, 40)} ${formatFinePercent(share)},`
      + ` before ${formatFinePercent(before)}. Set it.`,
    on: { click: () => setValue(id, code) } },
    make("span", { class: "answer-name", title: stateName(id, code) }, name),
    make("span", { class: "track", style: { "--part": share, "--all": before } }),
    make("span", { class: "number" }, formatFinePercent(share)));
}

function answerBars(id) {
  const before = prior().shares.get(id);
  const shares = answer() ? answer().shares.get(id) : before;
  const codes = shownCodes(id, shares, before);
  const nHidden = shares.length - codes.length;
  const longest = Math.max(...codes.map((code) => measureIn("13px")(stateName(id, code, 40))));
  return make("div", { class: "answer-bars", style: { "--name": Math.ceil(Math.min(longest, 108)) + 2 + "px" } },
    codes.map((code) => answerBar(id, code, shares[code], before[code])),
    nHidden ? button(`+${nHidden} values`, () => { wideAnswers.add(id); drawAnswers(); },
      { class: "more", "data-key": "wide-" + id }) : null);
}

/** The new density over the old one; a press sets the value below the pointer. */
function answerDensity(id) {
  const variable = variables[id];
  const before = prior().mixtures.get(id);
  const now = answer() ? answer().mixtures.get(id) : before;
  const [old, fresh] = [before, now].map((one) => densityOver(one, variable.range, 96));
  const { mean, sd } = mixtureMoments(now);
  const press = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const part = clamp((event.clientX - box.left) / box.width, 0, 1);
    setValue(id, Number((variable.range[0] + part * (variable.range[1] - variable.range[0])).toPrecision(3)));
  };
  const svg = draw("svg", { viewBox: "0 0 200 52", preserveAspectRatio: "none", class: "density press",
    role: "img", "aria-label": `mean ${formatValue(mean)}, standard deviation ${formatValue(sd)}`,
    on: { click: press } },
    draw("rect", { x: 0, y: 0, width: 200, height: 52, class: "ground" }),
    draw("path", { d: densityPath(old, 0, 2, 200, 50), class: "shape all" }),
    draw("path", { d: densityPath(fresh, 0, 2, 200, 50), class: "shape" }));
  return make("div", { class: "answer-density" }, svg, make("div", { class: "axis" },
    make("span", {}, formatIn(id, variable.range[0])),
    make("span", { class: "now" }, `${formatIn(id, mean)} \u00b1 ${formatIn(id, sd)}`),
    make("span", {}, formatIn(id, variable.range[1]))));
}

function makeAnswer(id, bits) {
  return make("div", { class: "answer " + (variables[id].latent ? "latent" : "observed"), id: "answer-" + id },
    answerHead(id, bits), isContinuous(id) ? answerDensity(id) : answerBars(id));
}

function answerGroup(title, ids) {
  const { order, moved } = orderAnswers(ids);
  const shown = state.isWholeAnswer ? order : order.slice(0, FIRST_ANSWERS);
  const pinned = chosen !== null && order.includes(chosen) && !shown.includes(chosen) ? [chosen] : [];
  const element = shown.length ? [make("p", { class: "note" }, title),
    make("div", { class: state.evidence.size ? "answers" : "answers unmoved" }, [...pinned, ...shown].map((id) => makeAnswer(id, moved.get(id))))] : [];
  return { element, nHidden: order.length - shown.length };
}

function drawAnswers() {
  const holder = byId("answers");
  const order = state.evidence.size ? ", most moved first." : ".";
  const mark = state.evidence.size ? " The upright mark is where each bar was before you set anything."
    : " Bars are the shares in all " + content.noun + ". Press one to set it.";
  const hidden = answerGroup("Hidden variables" + order + mark, latentIds);
  const columns = answerGroup("Columns" + order + (latentIds.length ? "" : mark), columnIds);
  const rest = hidden.nHidden + columns.nHidden;
  keepFocus(holder, () => fill(holder, hidden.element, columns.element,
    rest ? button(`Show the other ${rest}`, () => { state.isWholeAnswer = true; drawAnswers(); },
      { "data-key": "whole" }) : null,
    state.isWholeAnswer && everyId.length > 2 * FIRST_ANSWERS ? button("Show fewer", () => {
      state.isWholeAnswer = false;
      drawAnswers();
    }, { "data-key": "whole" }) : null), () => byId("known").querySelector("button, select"));
}
