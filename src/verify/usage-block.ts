import { isObject, readMessage } from '../lib/message-shape.ts'

/** The blocks of an event stream, each with the blank line that ends it, and where each begins. */
export function blocksOf(text: string): readonly { readonly start: number; readonly text: string }[] {
  const blocks: { start: number; text: string }[] = []
  let start = 0
  for (const { index, 0: end } of text.matchAll(/(\r\n|\r(?!\n)|\n)(\r\n|\r(?!\n)|\n)/g)) {
    blocks.push({ start, text: text.slice(start, index + end.length) })
    start = index + end.length
  }
  if (start < text.length) blocks.push({ start, text: text.slice(start) })
  return blocks
}

/** The one block of the stream without which it is what was got; `null` if there is none. */
export function withoutBlock(sent: Buffer, got: Buffer): string | null {
  for (const { start, text } of blocksOf(sent.toString('latin1'))) {
    const rest = Buffer.concat([sent.subarray(0, start), sent.subarray(start + text.length)])
    if (rest.equals(got)) return text
  }
  return null
}

/** What a block's data lines say, as an object; empty if that is none. */
export function eventOf(block: string): Readonly<Record<string, unknown>> {
  const lines = block.split(/\r\n|\r|\n/).filter((line) => line.startsWith('data:'))
  const data = lines.map((line) => line.slice(line[5] === ' ' ? 6 : 5)).join('\n')
  return readMessage(data, isObject) ?? {}
}

/** Whether the block is what an upstream sends for `include_usage`. */
export function isUsageEvent(block: string): boolean {
  const { choices, usage } = eventOf(block)
  return Array.isArray(choices) && choices.length === 0 && isObject(usage)
}
