/** What `kill-child.ts` has said of its calls until it was killed. */
import { readFileSync } from 'node:fs'

export interface WitnessedCall {
  readonly id: number
  /** Milliseconds since the Unix epoch; null of a call that was open at the kill. */
  readonly finishedAtMs: number | null
  /** So many batches were written after the call began. */
  readonly batches: number
}

export interface Witness {
  readonly calls: readonly WitnessedCall[]
  /** So many calls were rows, the first ones that finished. */
  readonly written: number
}

/** A call that began before so many batches is either a row or open. It takes three, and more where many calls wait. */
export const batchesToTrace = 8

export function readWitness(path: string): Witness {
  let text = ''
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    // The process was killed before it began.
  }
  const calls = new Map<number, { id: number; finishedAtMs: number | null; batches: number }>()
  let [batches, written] = [0, 0]
  const begunAfter = new Map<number, number>()
  // The kill may have torn the last line.
  for (const line of text.split('\n').slice(0, -1)) {
    const [verb, first = '', second] = line.split(' ')
    const number = Number(first)
    if (verb === 'w') {
      written = number
      batches++
    } else if (verb === 'b') {
      calls.set(number, { id: number, finishedAtMs: null, batches: 0 })
      begunAfter.set(number, batches)
    } else {
      const call = calls.get(number)
      if (call !== undefined) call.finishedAtMs = Number(second)
    }
  }
  for (const call of calls.values()) call.batches = batches - (begunAfter.get(call.id) ?? 0)
  return { calls: [...calls.values()], written }
}
