import { estimatedTokens } from '../../call/budget-tokens.ts'
import { callFields } from '../../call/call-fields.ts'
import { indexOf } from '../write/record-batch.ts'

/** What a row holds: its id, then a value for each of `storedFields`, in their order. Words are texts or numbers. */
export type StoredValues = readonly (number | string | null)[]

/** Tokens that a call is estimated to have used unreported, by what its row says. */
export function estimateOf(values: StoredValues, failureCode: string | null): number {
  const count = (record: keyof typeof indexOf): number | null => {
    const value = values[indexOf[record]] ?? null
    return typeof value === 'number' ? value : null
  }
  return estimatedTokens({
    callType: wordOf(callFields.call_type.codes, count('callType')),
    outcome: wordOf(callFields.outcome.codes, count('outcome')),
    failureCode,
    connectMs: count('connectMs'),
    ttfbMs: count('ttfbMs'),
    status: count('status'),
    inputTokens: count('inputTokens'),
    outputTokens: count('outputTokens'),
    totalTokens: count('totalTokens'),
    requestBytes: count('requestBytes') ?? 0,
    chunks: count('chunks'),
  })
}

function wordOf<Word extends string>(codes: Readonly<Record<Word, number>>, code: number | null): Word {
  const words = Object.keys(codes) as Word[]
  return words.find((word) => codes[word] === code) ?? (words[0] as Word)
}
