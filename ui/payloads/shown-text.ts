const pictures = 0x2400

/**
 * Text for the eye: control characters as pictures of themselves, and marks that turn the direction of writing by
 * their numbers, so that neither hides other text. Copying copies the original text.
 */
export function shownText(text: string): string {
  // Control characters are the very thing to find.
  // oxlint-disable-next-line no-control-regex
  const visible = text.replaceAll(/[\0-\b\v\f\u000e-\u001f\u007f]/g, (sign) =>
    sign === '\u007f' ? '\u2421' : String.fromCharCode(pictures + sign.charCodeAt(0)),
  )
  return visible.replaceAll(/[\u202a-\u202e\u2066-\u2069]/g, markWords)
}

function markWords(mark: string): string {
  return `[U+${mark.charCodeAt(0).toString(16).toUpperCase()}]`
}

/** The first words of a text on one line, for a row of a list. */
export function firstWords(text: string, length: number): string {
  const start = text.length > 4 * length ? text.slice(0, 4 * length) : text
  const line = shownText(start.replaceAll(/\s+/g, ' ').trim())
  return line.length <= length ? line : `${cutText(line, length).trimEnd()}…`
}

/** The beginning of a text, never ending in half of a character that takes two places. */
export function cutText(text: string, length: number): string {
  return text.slice(0, length).replace(/[\ud800-\udbff]$/, '')
}
