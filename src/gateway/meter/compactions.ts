import { type Fields, fields, isCount, list } from '../../lib/message-shape.ts'

/**
 * Anthropic's compactions of the conversation within a call, which its counts leave out. Iterations of other
 * types are in the counts, or are of another model (`advisor_message`).
 */
export function compactionsIn(usage: Fields): readonly Fields[] {
  return list(usage['iterations']).filter(({ type }) => type === 'compaction')
}

const wholes = ['input_tokens', 'output_tokens'] as const

/** The usage with its compactions in its counts. An unreadable count makes its sum unreadable. */
export function withCompactions(usage: Fields): Fields {
  const all = [usage, ...compactionsIn(usage)]
  // The counts of other APIs have other names, and a stream that broke off has no output.
  const isWhole = wholes.every((name) => (usage[name] ?? null) !== null)
  if (all.length === 1 || !isWhole) return usage
  const written = all.map((each) => fields(each['cache_creation']))
  const sums = {
    input_tokens: sum(all, 'input_tokens', Number.NaN),
    output_tokens: sum(all, 'output_tokens', Number.NaN),
    cache_read_input_tokens: sum(all, 'cache_read_input_tokens', 0),
    cache_creation_input_tokens: sum(all, 'cache_creation_input_tokens', 0),
    cache_creation: { ephemeral_1h_input_tokens: sum(written, 'ephemeral_1h_input_tokens', 0) },
  }
  return { ...usage, ...sums }
}

function sum(all: readonly Fields[], name: string, ifMissing: number): number {
  return all.reduce((total, each) => {
    const value = each[name] ?? ifMissing
    return total + (isCount(value) ? value : Number.NaN)
  }, 0)
}
