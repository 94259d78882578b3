import { isObject } from '../lib/message-shape.ts'
import type { SeenAnswer } from './seen-exchange.ts'
import { blocksOf, eventOf } from './usage-block.ts'

/**
 * Milliseconds from sending a chat request to its first token: of a stream, to the end of the first event with
 * content, reasoning or a tool call; of any other answer, to its end. `null` if there was nothing.
 */
export function timeToFirstTokenMs(answer: SeenAnswer): number | null {
  const contentEnd = endOfFirstContent(answer.body.toString('latin1'))
  const needed = contentEnd ?? answer.body.length
  return answer.arrivals.find(({ bytes }) => bytes >= needed)?.atMs ?? null
}

function endOfFirstContent(text: string): number | null {
  for (const block of blocksOf(text)) {
    const { choices } = eventOf(block.text)
    const delta: unknown = Array.isArray(choices) ? (choices[0] as { delta?: unknown })?.delta : null
    if (!isObject(delta)) continue
    const { content, reasoning, reasoning_content, tool_calls } = delta
    const said = [content, reasoning, reasoning_content, tool_calls]
    if (said.some((each) => each !== undefined && each !== null && each !== '')) {
      return block.start + block.text.length
    }
  }
  return null
}
