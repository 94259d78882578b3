/** A number without its thousands separators; null for `4,5`, which some read as a fraction. */
function withoutCommas(text: string): string | null {
  if (!text.includes(',')) return text
  return /^[1-9]\d{0,2}(,\d{3})+(\.|$)/.test(text) ? text.replaceAll(',', '') : null
}

/** A whole number, such as `1000` or `1,000`; null for any other text. */
export function wholeNumber(text: string): number | null {
  const digits = withoutCommas(text)
  return digits !== null && /^\d{1,16}$/.test(digits) ? Number(digits) : null
}

/** A number of at least 0, such as `1,000.5`; null for any other text. */
export function numberFromZero(text: string): number | null {
  const digits = withoutCommas(text)
  return digits !== null && /^(\d{1,16}(\.\d*)?|\.\d+)$/.test(digits) ? Number(digits) : null
}
