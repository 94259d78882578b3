/** A piece of a line: plain, strong, or code. All of it is text. */
export interface Span {
  readonly kind: 'plain' | 'strong' | 'code'
  readonly text: string
}

/** A block of a text. `mark` is the bullet of a list's item, or its number as written. */
export type Block =
  | { readonly kind: 'text' | 'heading'; readonly text: string }
  | { readonly kind: 'code'; readonly language: string; readonly text: string }
  | { readonly kind: 'item'; readonly mark: string; readonly depth: number; readonly text: string }

const fence = /^ {0,3}(`{3,}|~{3,})([^`]*)$/
const heading = /^#{1,6}\s+(\S.*)$/
const item = /^(\s*)([-*+]|\d{1,9}[.)])\s+(\S.*)$/
const deepest = 6

/**
 * Returns the blocks of a text: fenced code, headings, list items, and the text between them. Other Markdown stays
 * text. The time is linear in the text's length.
 */
export function blocksOf(source: string): readonly Block[] {
  const blocks: Block[] = []
  let lines: string[] = []
  const endText = (): void => {
    const text = lines.join('\n').replace(/^\n+/, '').trimEnd()
    if (text !== '') blocks.push({ kind: 'text', text })
    lines = []
  }
  const all = source.split('\n')
  for (let at = 0; at < all.length; at++) {
    const line = all[at] ?? ''
    const [, open, about = ''] = fence.exec(line) ?? []
    if (open !== undefined) {
      endText()
      const end = closingFence(all, at + 1, open)
      const [language = ''] = about.trim().split(/\s/, 1)
      blocks.push({ kind: 'code', language, text: all.slice(at + 1, end).join('\n') })
      at = end
      continue
    }
    const [, title] = heading.exec(line) ?? []
    const [, indent = '', mark = '', words] = title === undefined ? (item.exec(line) ?? []) : []
    if (title !== undefined) {
      endText()
      blocks.push({ kind: 'heading', text: title })
    } else if (words !== undefined) {
      endText()
      const depth = Math.min(deepest, Math.floor(indent.replaceAll('\t', '  ').length / 2))
      blocks.push({ kind: 'item', mark: /\d/.test(mark) ? mark : '•', depth, text: words })
    } else lines.push(line)
  }
  endText()
  return blocks
}

/**
 * Returns the index of the line that closes a fence; the end of the text without one, as in an answer that broke
 * off.
 */
function closingFence(lines: readonly string[], from: number, open: string): number {
  for (let at = from; at < lines.length; at++) {
    const line = (lines[at] ?? '').trim()
    if (line.length >= open.length && line === open[0]?.repeat(line.length)) return at
  }
  return lines.length
}

const marked = /`([^`\n]+)`|\*\*([^\s*](?:[^*\n]*[^\s*])?)\*\*/g

/** Returns the pieces of a block's text. */
export function spansOf(text: string): readonly Span[] {
  const spans: Span[] = []
  let end = 0
  for (const match of text.matchAll(marked)) {
    const [full, code, strong = ''] = match
    if (match.index > end) spans.push({ kind: 'plain', text: text.slice(end, match.index) })
    spans.push(code === undefined ? { kind: 'strong', text: strong } : { kind: 'code', text: code })
    end = match.index + full.length
  }
  if (end < text.length) spans.push({ kind: 'plain', text: text.slice(end) })
  return spans
}
