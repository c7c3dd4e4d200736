// Numbers as people read them: rounded, never cut; a real minus sign; separators of thousands.

const MINUS = "\u2212";

function group(digits) {
  return digits.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** A number with a fixed count of decimals, for example −49,476.5. */
function formatFixed(value, decimals) {
  const text = Math.abs(value).toFixed(decimals);
  const [whole, part] = text.split(".");
  const body = part === undefined ? group(whole) : group(whole) + "." + part;
  return value < 0 && Number(text) !== 0 ? MINUS + body : body;
}

/** A count: whole, or with one decimal if it is a sum of weights that is not whole. */
function formatCount(value) {
  const isWhole = Math.abs(value - Math.round(value)) < 0.05;
  return formatFixed(value, isWhole ? 0 : 1);
}

/** A measured value: three or four digits that mean something. */
function formatValue(value) {
  if (value === null || !Number.isFinite(value)) return "\u2013";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1e7 || size < 1e-4) return value.toExponential(1).replace(/-/g, MINUS);
  if (size >= 1000) return formatFixed(value, 0);
  if (size >= 100) return formatFixed(value, 1);
  if (size >= 0.1) return formatFixed(value, 2);
  return formatFixed(value, 3 - Math.ceil(Math.log10(size) + 1));
}

/** A share in whole percent. Small ones are "<1%", what practically never occurs is "0%". */
function formatPercent(share) {
  if (share >= 0.0005 && share < 0.005) return "<1%";
  return Math.round(share * 100) + "%";
}

/** A share in percent, with one decimal below ten. */
function formatFinePercent(share) {
  if (share < 1e-6) return "0%";
  if (share < 0.0005) return "<0.1%";
  if (share < 0.0995) return (share * 100).toFixed(1) + "%";
  return Math.round(share * 100) + "%";
}

/** Bits: two decimals that mean something. */
function formatBits(bits) {
  if (bits < 0.0005) return "<0.001";
  if (bits < 0.0995) return bits.toFixed(3);
  return bits.toFixed(2);
}

/** How much an answer moved, in bits. */
function formatMove(bits) {
  return bits < 0.005 ? "<0.01" : bits.toFixed(2);
}

/** One row out of how many: for shares that are too small for percent. */
function formatRare(share) {
  if (share >= 0.0005) return formatFinePercent(share);
  if (share < 1e-12) return "Practically none";
  const inverse = 1 / share;
  const digits = Math.pow(10, Math.max(0, Math.floor(Math.log10(inverse)) - 1));
  return "1 in " + formatFixed(Math.round(inverse / digits) * digits, 0);
}

/** Round numbers for an axis, about as many as asked for. */
function makeTicks(low, high, about) {
  const raw = (high - low) / Math.max(1, about);
  if (!(raw > 0)) return [low];
  const power = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= raw);
  const ticks = [];
  for (let k = Math.ceil(low / step); k * step <= high + step * 1e-9; k += 1) ticks.push(k * step);
  return ticks;
}

const WORDS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/** "1 state", "3 states". */
function countOf(number, noun) {
  return formatCount(number) + " " + (number === 1 ? noun : noun + "s");
}
