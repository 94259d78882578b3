import type { CallJson } from '../../src/call/call-record.ts'
import { counted } from '../format/figures.ts'

/** Returns the text in place of unreported tokens: `58 chunks, no usage reported`. */
export function noUsageWords({
  chunks,
  finish_reason: reason,
  failure_code: code,
}: Pick<CallJson, 'chunks' | 'finish_reason' | 'failure_code'>): string {
  if (code === 'implausible_usage') return 'The reported usage is impossible and not counted'
  if (reason === 'queued' || reason === 'in_progress')
    return 'Counted with the call that fetched the response'
  return chunks === null || chunks === 0
    ? 'No usage reported'
    : `${counted(chunks, 'chunk')}, no usage reported`
}
