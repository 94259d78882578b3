/**
 * JSON as text, handled without reading it into values: numbers, escapes, the order of keys and doubled keys stay as
 * they were written, so that what the page shows is what went over the wire. All functions take any text and never
 * throw.
 */

/** Beyond it, text of nothing but brackets would become a square of spaces. */
const deepestIndent = 64

/** The text of a member of an object: `1e400` of `{"a": 1e400}`; the last one of that name. Null where there is none. */
export function memberText(text: string, name: string): string | null {
  let found: string | null = null
  let at = skipSpace(text, 0)
  if (text[at] !== '{') return null
  const key = JSON.stringify(name)
  at += 1
  for (;;) {
    at = skipSpace(text, at)
    if (text[at] !== '"') return found
    const keyEnd = endOfString(text, at)
    const isIt = text.slice(at, keyEnd) === key
    at = skipSpace(text, keyEnd)
    if (text[at] !== ':') return found
    const from = skipSpace(text, at + 1)
    const end = endOfValue(text, from)
    if (end === from) return found
    if (isIt) found = text.slice(from, end)
    at = skipSpace(text, end)
    if (text[at] !== ',') return found
    at += 1
  }
}

/** Indented by two spaces, an entry a line; empty lists and objects stay together. Takes no time beyond the text's length. */
export function indentedJson(text: string): string {
  const lines: string[] = []
  let depth = 0
  let at = 0
  const breakLine = (): void => void lines.push('\n', '  '.repeat(Math.min(depth, deepestIndent)))
  while (at < text.length) {
    const character = text[at] ?? ''
    if (character === '"') {
      const end = endOfString(text, at)
      lines.push(text.slice(at, end))
      at = end
    } else if (character === '{' || character === '[') {
      const next = skipSpace(text, at + 1)
      if (text[next] === '}' || text[next] === ']') {
        lines.push(character, text[next] ?? '')
        at = next + 1
      } else {
        depth += 1
        lines.push(character)
        breakLine()
        at = next
      }
    } else if (character === '}' || character === ']') {
      depth = Math.max(0, depth - 1)
      breakLine()
      lines.push(character)
      at += 1
    } else if (character === ',') {
      lines.push(character)
      breakLine()
      at = skipSpace(text, at + 1)
    } else if (character === ':') {
      lines.push(': ')
      at = skipSpace(text, at + 1)
    } else if (isSpace(character)) {
      at += 1
    } else {
      const end = Math.max(at + 1, endOfScalar(text, at))
      lines.push(text.slice(at, end))
      at = end
    }
  }
  return lines.join('')
}

function isSpace(character: string | undefined): boolean {
  return character === ' ' || character === '\n' || character === '\r' || character === '\t'
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (isSpace(text[at])) at += 1
  return at
}

/** After the closing quote, or at the end of the text. */
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

function endOfScalar(text: string, from: number): number {
  let at = from
  while (at < text.length && !',:[]{}" \n\r\t'.includes(text[at] ?? '')) at += 1
  return at
}

function endOfValue(text: string, from: number): number {
  let depth = 0
  let at = from
  do {
    const character = text[at]
    if (character === undefined) return at
    if (character === '"') at = endOfString(text, at)
    else if (character === '{' || character === '[') {
      depth += 1
      at += 1
    } else if (character === '}' || character === ']') {
      if (depth === 0) return at
      depth -= 1
      at += 1
    } else if (depth > 0 && (character === ',' || character === ':' || isSpace(character))) at += 1
    else {
      const end = endOfScalar(text, at)
      if (end === at) return at
      at = end
    }
  } while (depth > 0)
  return at
}
