import type { CallJson } from '../../src/call/call-record.ts'
import { counted } from '../format/figures.ts'

/** What stands where tokens would, of a call that reported none: `58 chunks, no usage reported`. */
export function noUsageWords({ chunks }: Pick<CallJson, 'chunks'>): string {
  return chunks === null || chunks === 0
    ? 'No usage reported'
    : `${counted(chunks, 'chunk')}, no usage reported`
}
