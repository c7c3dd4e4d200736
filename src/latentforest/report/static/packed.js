// Rows arrive packed, one character for each: codes, and whole percents less one as two digits.

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Codes of a column or of likeliest states; -1 is missing. */
function unpackCodes(packed) {
  if (typeof packed !== "string") return packed;
  return Int16Array.from(packed, (sign) => DIGITS.indexOf(sign));
}

function unpackProbabilities(packed) {
  if (typeof packed !== "string") return packed;
  return Float32Array.from({ length: packed.length / 2 }, (_, row) =>
    (Number(packed.slice(2 * row, 2 * row + 2)) + 1) / 100);
}

function unpackRows(rows) {
  if (!rows) return;
  rows.numbers = rows.numbers || Array.from({ length: rows.n_rows }, (_, k) => k + 1);
  for (const one of rows.latents) {
    one.states = unpackCodes(one.states);
    one.probabilities = unpackProbabilities(one.probabilities);
  }
  for (const column of rows.columns) if (column.codes) column.codes = unpackCodes(column.codes);
}
