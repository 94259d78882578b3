import type { CallJson } from '../../src/call/call-record.ts'
import { counted } from '../format/figures.ts'
import type { PhaseName } from './call-phases.ts'

/** The names of a call's phases, as in browsers' network panels. */
export const phaseWords: Readonly<Record<PhaseName, string>> = {
  receive: 'Receiving request',
  queue: 'Waiting for slot',
  retry: 'Waiting to retry',
  connect: 'Upstream connect',
  first_token: 'To first token',
  first_byte: 'To first byte',
  stream: 'Streaming',
  body: 'Rest of response',
  answer: 'Waiting for response',
  refusal: 'Gateway’s response',
}

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
