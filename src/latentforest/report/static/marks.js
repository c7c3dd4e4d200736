// The marks that occur everywhere: bars cut by shares, densities, ramps of colour.

const palette = {};

/** Colours of the theme, as the style sheet has them. */
function readPalette() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["page", "panel", "ink", "state-first", "state-last", "value-first",
    "value-last", "heat-first", "heat-last", "you"]) {
    const hex = style.getPropertyValue("--" + name).trim();
    palette[name] = [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
  }
}

function mixColours(first, last, part) {
  return first.map((channel, k) => Math.round(channel + (last[k] - channel) * part));
}

const cssColour = (channels) => "rgb(" + channels.join(",") + ")";

/** Colour of state k of n: from light to dark, or the other way round in the dark. */
function stepColour(kind, k, n) {
  const part = n > 1 ? k / (n - 1) : 0;
  return cssColour(mixColours(palette[kind + "-first"], palette[kind + "-last"], part));
}

function luminance(channels) {
  const [r, g, b] = channels.map((channel) => {
    const part = channel / 255;
    return part <= 0.03928 ? part / 12.92 : Math.pow((part + 0.055) / 1.055, 2.4);
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a, b) {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

/** Ground and text of a heat cell; the text is the one of black and white that is read best. */
function heatColours(part) {
  const ground = mixColours(palette["heat-first"], palette["heat-last"], clamp(part, 0, 1));
  const texts = [[23, 32, 43], [255, 255, 255]];
  const text = contrast(ground, texts[0]) >= contrast(ground, texts[1]) ? texts[0] : texts[1];
  return { ground: cssColour(ground), text: cssColour(text) };
}

/** A bar cut by shares, as rectangles of an SVG. */
function cutBar(x, y, width, height, shares, kind) {
  const gap = shares.length > 14 ? 0 : shares.length > 6 ? 0.6 : 1;
  const bar = draw("g", { "aria-hidden": "true" });
  let at = x;
  shares.forEach((share, k) => {
    const full = share * width;
    const isLast = at + full >= x + width - 0.01;
    const wide = Math.max(0, full - (isLast ? 0 : Math.min(gap, full * 0.3)));
    if (wide > 0.15) {
      bar.append(draw("rect", { x: at.toFixed(2), y, width: Math.max(wide, 0.5).toFixed(2), height,
        style: { fill: stepColour(kind, k, shares.length) } }));
    }
    at += full;
  });
  return bar;
}

/** The outline of a density, closed at its ground. */
function densityPath(heights, x, y, width, height, peak) {
  const top = peak || Math.max(...heights) || 1;
  const step = width / (heights.length - 1);
  const points = heights.map((value, k) =>
    (x + k * step).toFixed(2) + " " + (y + height - height * Math.min(1, value / top)).toFixed(2));
  return "M" + x + " " + (y + height) + "L" + points.join("L") + "L" + (x + width) + " "
    + (y + height) + "Z";
}

/** The small bar of a variable in lists: 46 by 8. */
function miniBar(id, width) {
  const svg = draw("svg", { width, height: 8, class: "mini", "aria-hidden": "true" });
  if (isContinuous(id)) {
    svg.append(draw("path", { d: densityPath(variables[id].density, 0, 0, width, 8), class: "shape" }));
  } else svg.append(cutBar(0, 0, width, 8, sharesNow(id), variables[id].latent ? "state" : "value"));
  return svg;
}
