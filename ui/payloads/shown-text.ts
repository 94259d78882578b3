const pictures = 0x2400

/**
 * Returns a text with visible control characters. Marks that change the direction of writing are replaced by their
 * numbers, so that they cannot hide other text. Copying copies the original text.
 */
export function shownText(text: string): string {
  // The pattern searches for control characters.
  // oxlint-disable-next-line no-control-regex
  const visible = text.replaceAll(/[\0-\b\v\f\u000e-\u001f\u007f]/g, (sign) =>
    sign === '\u007f' ? '\u2421' : String.fromCharCode(pictures + sign.charCodeAt(0)),
  )
  return visible.replaceAll(/[\u202a-\u202e\u2066-\u2069]/g, markWords)
}

function markWords(mark: string): string {
  return `[U+${mark.charCodeAt(0).toString(16).toUpperCase()}]`
}

/** Returns the first words of a text on one line. */
export function firstWords(text: string, length: number): string {
  const start = text.length > 4 * length ? text.slice(0, 4 * length) : text
  const line = shownText(start.replaceAll(/\s+/g, ' ').trim())
  return line.length <= length ? line : `${cutText(line, length).trimEnd()}…`
}

/** Returns the beginning of a text. A character of two UTF-16 units is never cut in half. */
export function cutText(text: string, length: number): string {
  return text.slice(0, length).replace(/[\ud800-\udbff]$/, '')
}
