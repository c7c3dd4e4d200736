// Profiles on narrow screens: the name of each column on its own line, numbers below it.

function slimTitle(column) {
  const through = column.through !== null && column.through !== undefined
    ? `through ${variableName(column.through, 40)}, ` : "";
  const together = column.together === null || column.together === undefined ? ""
    : ", together " + formatPercent(Math.min(1, column.together));
  const missing = variables[column.variable].missing;
  const gaps = missing >= 0.0005 ? `, ${formatPercent(missing)} missing` : "";
  return [make("span", { class: "column-name" }, variableName(column.variable, 240)), " ",
    make("span", { class: "through" }, `${through}${formatBits(column.bits)} bits${together}${gaps}`)];
}

function slimRows(column, profile, form) {
  const span = 1 + profile.sizes.length * (form === "bars" ? 2 : 1);
  const title = make("tr", { class: "first" }, make("th", { scope: "rowgroup", colspan: span,
    class: "column" }, slimTitle(column)));
  if (!column.given) {
    return [title, make("tr", {}, make("td", { class: "number value" }, "mean"),
      profile.sizes.map((_, s) => (form === "tints" ? meanTint(column, s, profile.latent)
        : densityCell(column, s, form))))];
  }
  const rows = categoricalRows(column, profile, form, false);
  for (const row of rows) {
    for (const cell of row.querySelectorAll("th.column, .tells-bar, .tells, .together, .all")) {
      cell.remove();
    }
    row.classList.remove("first");
  }
  return [title, ...rows];
}

function slimTable(profile, columns, form) {
  const states = form === "tints" ? makeSizeColumns(profile)
    : profile.sizes.map((_, s) => makeStateHead(profile, s, form, false));
  return make("table", { class: `profile slim ${form}`, style: { "--states": profile.sizes.length } },
    make("thead", {}, make("tr", {}, make("td", {}), states)),
    columns.map((column) => make("tbody", {}, slimRows(column, profile, form))));
}
