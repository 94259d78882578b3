/**
 * Functions on JSON text that do not parse it into values. So numbers, escapes, the order of keys and doubled keys
 * stay as sent. All functions accept any text and never throw.
 */

/** The deepest indent in levels. Without a limit, text of only brackets would become a square of spaces. */
const deepestIndent = 64

/**
 * Returns the text of an object's member: `1e400` of `{"a": 1e400}`. If the name occurs several times, the last
 * member counts. Null without one.
 */
export function memberText(text: string, name: string): string | null {
  const key = JSON.stringify(name)
  let depth = 0
  let before = ''
  /** The index after the member's colon; null outside of its value. */
  let from: number | null = null
  let found: string | null = null
  for (const [start, end] of tokensOf(text)) {
    const token = text.slice(start, end)
    if (isClosing(token)) depth -= 1
    if (from !== null && (depth === 0 || (depth === 1 && token === ','))) {
      found = text.slice(from, start).trim()
      from = null
    } else if (depth === 1 && token === ':' && before === key) from = end
    if (isOpening(token)) depth += 1
    before = token
  }
  return from === null ? found : text.slice(from).trim()
}

/**
 * Returns the text indented by two spaces, one entry a line. Empty lists and objects stay on one line. The time is
 * linear in the text's length.
 */
export function indentedJson(text: string): string {
  const parts: string[] = []
  let depth = 0
  let before = ''
  for (const [start, end] of tokensOf(text)) {
    const token = text.slice(start, end)
    if (isClosing(token)) depth = Math.max(0, depth - 1)
    const isNewLine = isClosing(token) ? !isOpening(before) : isOpening(before) || before === ','
    if (isNewLine) parts.push('\n', '  '.repeat(Math.min(depth, deepestIndent)))
    else if (before === ':') parts.push(' ')
    parts.push(token)
    if (isOpening(token)) depth += 1
    before = token
  }
  return parts.join('')
}

/** A piece of JSON with one colour. `plain` pieces are punctuation and spaces. */
export interface JsonPiece {
  readonly kind: 'key' | 'string' | 'number' | 'literal' | 'plain'
  readonly text: string
}

/** Returns the pieces of a text, which together are the text. */
export function jsonPieces(text: string): readonly JsonPiece[] {
  const pieces: JsonPiece[] = []
  let end = 0
  /** The index of the last string, which a colon turns into a key. */
  let last = -1
  for (const [start, tokenEnd] of tokensOf(text)) {
    const sign = text[start] ?? ''
    const { [last]: before } = pieces
    if (sign === ':' && before?.kind === 'string') pieces[last] = { kind: 'key', text: before.text }
    last = -1
    if ('{}[],:'.includes(sign)) continue
    if (start > end) pieces.push({ kind: 'plain', text: text.slice(end, start) })
    last = pieces.length
    const kind = sign === '"' ? 'string' : /[-\d]/.test(sign) ? 'number' : 'literal'
    pieces.push({ kind, text: text.slice(start, tokenEnd) })
    end = tokenEnd
  }
  if (end < text.length) pieces.push({ kind: 'plain', text: text.slice(end) })
  return pieces
}

/** Yields the punctuation, strings, numbers and words of JSON, without the space between them. */
function* tokensOf(text: string): Generator<readonly [start: number, end: number]> {
  const token = /[{}[\],:"]|[^{}[\],:" \n\r\t]+/g
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    if (match[0] === '"') token.lastIndex = endOfString(text, match.index)
    yield [match.index, token.lastIndex]
  }
}

/** Returns the index after the closing quote, or the end of the text. */
function endOfString(text: string, from: number): number {
  let at = from + 1
  for (;;) {
    const quote = text.indexOf('"', at)
    if (quote < 0) return text.length
    let slashes = 0
    while (text[quote - 1 - slashes] === '\\') slashes += 1
    at = quote + 1
    if (slashes % 2 === 0) return at
  }
}

function isOpening(token: string): boolean {
  return token === '{' || token === '['
}

function isClosing(token: string): boolean {
  return token === '}' || token === ']'
}
