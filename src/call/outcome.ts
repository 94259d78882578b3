import type { RecordFields } from './call-fields.ts'

/** How a call ended. */
export type Outcome = RecordFields['outcome']

/** A client that left is nobody's failure; every other end but `ok` is. */
export function isFailed(outcome: Outcome): boolean {
  return outcome !== 'ok' && outcome !== 'client_disconnected'
}
