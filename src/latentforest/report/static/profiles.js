// Profiles: the list of hidden variables, and what one of them stands for.

const MOST_BARS = 5;
const MOST_NUMBERS = 14;
const WEAK = 0.12;
const MOST_VALUES = 12;
const LEAST_TELLING = 0.02;
const MOST_COLUMNS = 12;
const MOST_PRINTED = 7;
const expanded = new Set();

function profileForm(nStates, isSlim) {
  if (nStates <= (isSlim ? 3 : MOST_BARS)) return "bars";
  if (nStates <= (isSlim ? 10 : MOST_NUMBERS)) return "heat";
  return "tints";
}

/** What a value tells: its probability times how far it moves the hidden variable. */
function tellingOf(shares, sizes) {
  let whole = 0;
  sizes.forEach((size, s) => { whole += size * shares[s]; });
  if (whole <= 0) return 0;
  let sum = 0;
  sizes.forEach((size, s) => {
    if (shares[s] > 0) sum += size * shares[s] * Math.log2(shares[s] / whole);
  });
  return sum;
}

/** Codes of the values to show: all; of weak columns the most telling one; of yes-or-no columns in
 * crowded tables the rarer one, for the other says the same. */
function listValues(column, profile, form, isWhole) {
  const codes = column.given.map((_, code) => code);
  const isCrowded = form !== "bars" || profile.columns.length > 8;
  if (codes.length === 2 && isCrowded && profile.columns.length > 3) {
    const { shares } = variables[column.variable];
    return [shares[0] < shares[1] ? 0 : 1];
  }
  const part = column.bits / Math.max(profile.columns[0].bits, 1e-12);
  const most = part < WEAK ? 1 : part < 3 * WEAK ? 4 : MOST_VALUES;
  if (isWhole || codes.length <= most) return codes;
  const telling = codes.map((code) => tellingOf(column.given[code], profile.sizes));
  const best = [...codes].sort((a, b) => telling[b] - telling[a] || b - a).slice(0, most);
  return codes.filter((code) => best.includes(code));
}

function sentenceOfClarity(variable) {
  const { clear } = variable;
  if (clear === null || clear === undefined) return "";
  if (clear >= 0.9995) return " \u00b7 every row is clear";
  return ` \u00b7 ${formatPercent(clear)} of rows are clear (one state with 90% or more)`;
}

function explainProfile(id, form) {
  const columns = "Columns are in the order of what they tell about " + variableName(id, 60)
    + ", in bits (a yes-or-no question answered is one bit); \u201ctogether\u201d is what they and all"
    + ` above tell, of all there is to know (${formatBits(profileOf.get(id).entropy)} bits).`;
  const how = {
    bars: "Each bar is the share of a value within a state; the upright mark is its share in all rows. ",
    heat: "Each number is the share of a value within a state, in percent; darker is more. ",
    tints: "Each square is the share of a value within a state, or where the mean of a numeric column"
      + " lies between its lowest and its highest; darker is more. Point at a square for its number."
      + " The columns on top are the sizes of the states. ",
  };
  return how[form] + columns;
}

function makeStateHead(profile, s, form, isPrint) {
  const id = profile.latent;
  const largest = Math.max(...profile.sizes);
  const count = profile.counts ? " \u00b7 " + formatRows(profile.counts[s]) : "";
  const track = make("span", { class: "size", style: { "--part": profile.sizes[s] / largest,
    "--colour": stepColour("state", s, profile.sizes.length) } });
  const label = "Name of state " + (s + 1);
  const name = isPrint ? make("span", { class: "edit" }, stateName(id, s))
    : editable(stateName(id, s, form === "bars" ? 60 : 24), label, `state-${id}-${s}`,
      (text) => renameState(id, s, text));
  const share = formatPercent(profile.sizes[s]);
  return make("th", { scope: "col", class: "state", colspan: form === "bars" ? 2 : null,
    title: `${stateTitle(id, s, 80)}: ${share}${count}` },
    track, make("span", { class: "state-name" }, name),
    make("span", { class: "state-size" }, share + (form === "bars" ? count : "")));
}

/** Over 14 states: sizes as columns, every fifth state numbered. */
function makeSizeColumns(profile) {
  const count = profile.sizes.length;
  const largest = Math.max(...profile.sizes);
  return profile.sizes.map((size, s) => {
    const isNumbered = s === 0 || (s + 1) % 5 === 0;
    return make("th", { scope: "col", class: "state tint",
      title: `${stateTitle(profile.latent, s, 80)}: ${formatFinePercent(size)}`
        + (profile.counts ? " \u00b7 " + formatRows(profile.counts[s]) : "") },
      make("span", { class: "column-size", style: { height: (2 + 24 * size / largest).toFixed(1) + "px",
        background: stepColour("state", s, count) } }),
      make("span", { class: "state-number" }, isNumbered ? String(s + 1) : "\u00a0"));
  });
}

function makeHead(profile, form, isPrint) {
  const states = form === "tints" ? makeSizeColumns(profile)
    : profile.sizes.map((_, s) => makeStateHead(profile, s, form, isPrint));
  return make("thead", {}, make("tr", {}, make("th", { scope: "col", class: "column" }, "Column"),
    make("th", { scope: "col", class: "tells", colspan: 2 }, "tells, bits"),
    make("th", { scope: "col", class: "number" }, "together"),
    make("th", { scope: "col", class: "number value" }, "value"),
    make("th", { scope: "col", class: "number all" }, "all rows"), states));
}

function percentCell(share) {
  const kind = share >= 0.5 ? " much" : share < 0.005 ? " zero" : "";
  return make("td", { class: "number share" + kind }, formatPercent(share));
}

function barCells(column, code, all, s) {
  const share = column.given[code][s];
  return [make("td", { class: "bar" }, make("span", { class: "track",
    style: { "--part": share, "--all": all } })), percentCell(share)];
}

function heatCell(column, code, s, form, id) {
  const share = column.given[code][s];
  const { ground, text } = heatColours(share);
  const tip = `${stateName(column.variable, code, 40)} in ${stateTitle(id, s, 40)}: `
    + formatFinePercent(share);
  const isSmall = share >= 0.0005 && share < 0.005;
  const number = form === "tints" ? "" : isSmall ? "<1" : String(Math.round(share * 100));
  return make("td", { class: "heat" + (share < 0.005 ? " zero" : ""), title: tip,
    "aria-label": tip, style: { background: ground, color: share < 0.005 ? null : text } }, number);
}

/** Density of a continuous column in a state over that of all rows, each to its own peak. */
function densityCell(column, s, form) {
  const variable = variables[column.variable];
  const [mean, sd] = [column.means[s], column.sds[s]];
  const text = formatIn(column.variable, mean)
    + (form === "bars" ? " \u00b1 " + formatIn(column.variable, sd) : "");
  const svg = draw("svg", { viewBox: "0 0 100 36", preserveAspectRatio: "none", class: "density",
    role: "img", "aria-label": `mean ${formatValue(mean)}, standard deviation ${formatValue(sd)}` },
    draw("path", { d: densityPath(variable.density, 0, 0, 100, 36), class: "shape all" }),
    draw("path", { d: densityPath(column.densities[s], 0, 0, 100, 36), class: "shape latent" }));
  return make("td", { class: "dense", colspan: form === "bars" ? 2 : null,
    title: `mean ${formatValue(mean)}, standard deviation ${formatValue(sd)}` }, svg,
    make("span", { class: "mean" }, text));
}

function meanTint(column, s, id) {
  const [low, high] = [Math.min(...column.means), Math.max(...column.means)];
  const part = high > low ? (column.means[s] - low) / (high - low) : 0;
  const tip = `mean in ${stateTitle(id, s, 40)}: ${formatValue(column.means[s])}`
    + ` \u00b1 ${formatValue(column.sds[s])}`;
  return make("td", { class: "heat tall", title: tip, "aria-label": tip,
    style: { background: heatColours(part).ground } });
}

function columnCells(column, profile, nRows) {
  const { variable, bits } = column;
  const missing = variables[variable].missing;
  const notes = [
    column.through !== null && column.through !== undefined
      ? make("span", { class: "through" }, "through " + variableName(column.through, 40)) : null,
    missing >= 0.0005 ? make("span", { class: "through" }, formatPercent(missing) + " missing") : null,
  ];
  const part = bits / Math.max(profile.columns[0].bits, 1e-12);
  const name = variableName(variable);
  const together = column.together === null || column.together === undefined ? ""
    : formatPercent(Math.min(1, column.together));
  return [
    make("th", { scope: "row", rowspan: nRows, class: "column", title: name.length > 120 ? name : null },
      make("span", { class: "column-name" }, soft(cutText(name, 240))), notes),
    make("td", { rowspan: nRows, class: "tells-bar" }, make("span", { style: { "--part": part } })),
    make("td", { rowspan: nRows, class: "number tells" }, formatBits(bits)),
    make("td", { rowspan: nRows, class: "number together" }, together),
  ];
}

function continuousRow(column, profile, form) {
  const variable = variables[column.variable];
  return make("tr", { class: "first continuous" }, columnCells(column, profile, 1),
    make("td", { class: "number value mean" }, "mean"),
    make("td", { class: "number all" }, formatIn(column.variable, variable.mean)),
    profile.sizes.map((_, s) => (form === "tints" ? meanTint(column, s, profile.latent)
      : densityCell(column, s, form))));
}

function categoricalRows(column, profile, form, isPrint) {
  const key = profile.latent + "-" + column.variable;
  const codes = listValues(column, profile, form, expanded.has(key));
  const nHidden = column.given.length - codes.length;
  return codes.map((code, k) => {
    const all = variables[column.variable].shares[code];
    const isLast = k === codes.length - 1;
    const more = isLast && nHidden > 1 && !isPrint ? button("+" + nHidden, () => {
      expanded.add(key);
      drawProfile();
    }, { class: "more", "data-key": "more-" + key, "aria-label": `Show ${nHidden} more values` }) : null;
    return make("tr", { class: k === 0 ? "first" : null },
      k === 0 ? columnCells(column, profile, codes.length) : null,
      make("td", { class: "number value", title: stateName(column.variable, code) },
        make("span", { class: "value-name" }, stateName(column.variable, code, 28)), more),
      make("td", { class: "number all" }, formatPercent(all)),
      profile.sizes.map((_, s) => (form === "bars" ? barCells(column, code, all, s)
        : heatCell(column, code, s, form, profile.latent))));
  });
}

function makeNextTo(profile, isPrint) {
  if (!profile.next.length) return null;
  const parts = profile.next.flatMap(({ variable, bits }, k) => [
    k === 0 ? "" : k === profile.next.length - 1 ? " and " : ", ",
    isPrint ? variableName(variable, 60)
      : button(variableName(variable, 60), () => openVariable(variable), { class: "link" }),
    ` (${formatBits(bits)} bits)`]);
  return make("p", { class: "next" }, "Next to it in the tree: ", parts, ".");
}

/** Columns that tell enough, and a button for the others. */
function listColumns(profile, isPrint) {
  const { columns } = profile;
  if (expanded.has(profile.latent)) return { shown: columns, more: null };
  const enough = columns.filter((one) => one.bits >= LEAST_TELLING * columns[0].bits).length;
  const count = Math.min(Math.max(enough, 3), isPrint ? MOST_PRINTED : MOST_COLUMNS);
  const nHidden = columns.length - count;
  if (nHidden <= 1) return { shown: columns, more: null };
  const text = `${nHidden} more columns that tell less`;
  const more = isPrint ? make("p", { class: "note" }, text) : button(text, () => {
    expanded.add(profile.latent);
    drawProfile();
  }, { "data-key": "columns-" + profile.latent, class: "more-columns" });
  return { shown: columns.slice(0, count), more };
}

/** The whole profile of a hidden variable as an element. */
function makeProfile(id, isPrint) {
  const profile = profileOf.get(id);
  const isSlim = !isPrint && window.innerWidth < 620;
  const form = profileForm(profile.sizes.length, isSlim);
  const variable = variables[id];
  const name = isPrint ? make("span", { class: "edit" }, variableName(id))
    : editable(variableName(id), "Name", "name-" + id, (text) => renameVariable(id, text));
  const own = visible(variable.name) === variableName(id) ? "" : cutText(visible(variable.name), 40) + " \u00b7 ";
  const { shown, more } = listColumns(profile, isPrint);
  const isLong = shown.some((column) => variableName(column.variable).length > 60);
  const table = make("table", { class: "profile " + form + (isLong ? " long" : ""),
    style: { "--states": profile.sizes.length } }, makeHead(profile, form, isPrint),
    shown.map((column) => make("tbody", {}, column.given
      ? categoricalRows(column, profile, form, isPrint) : continuousRow(column, profile, form))));
  return make("div", { class: "one-profile " + form },
    make("div", { class: "profile-title" }, make("h3", {}, name),
      make("span", { class: "meta" }, own + countOf(variable.states.length, "state")
        + sentenceOfClarity(variable))),
    make("p", { class: "explain" }, explainProfile(id, form)),
    profile.columns.length ? make("div", { class: "scroll" }, isSlim ? slimTable(profile, shown, form) : table)
      : make("p", { class: "note" }, "No column tells anything about it."),
    more, makeNextTo(profile, isPrint));
}

function drawProfileList() {
  const list = byId("profile-list");
  const ids = content.profiles.map((profile) => profile.latent);
  keepFocus(list, () => fill(list, ids.map((id) => make("li", {},
    button([make("span", {}, soft(variableName(id, 70))), miniBar(id, 46)], () => openProfile(id, false),
      { "aria-current": id === state.open ? "true" : null, "data-key": "list-" + id })))));
  const menu = byId("profile-menu");
  fill(menu, ids.map((id) => make("option", { value: id, selected: id === state.open },
    variableName(id, 70))));
}

function drawProfile() {
  if (state.open === null || !byId("profile")) return;
  keepFocus(byId("profile"), () => fill(byId("profile"), makeProfile(state.open, false)));
  drawProfileList();
}

function openProfile(id, isFar) {
  state.open = id;
  drawProfile();
  tell("opened");
  if (isFar) {
    byId("profiles").scrollIntoView();
    const name = findKey(byId("profile"), "name-" + id);
    if (name) name.focus({ preventScroll: true });
  }
}

/** From anywhere: hidden variables open their profile, columns their place in "Ask". */
function openVariable(id) {
  if (profileOf.has(id) && byId("profiles")) openProfile(id, true);
  else if (byId("ask")) openInAsk(id);
}
