import type { Sessions } from '../api/sessions.ts'
import { formatCallId } from '../call/call-id.ts'
import type { CallReader } from '../call/call-reader.ts'
import type { SessionsQuestion } from './query-question.ts'

/** A page of the sessions that have a call of the filter. */
export async function sessionsAnswer(
  reader: CallReader,
  { filter, page }: SessionsQuestion,
): Promise<Sessions> {
  const { sessions, nextBeforeId } = await reader.sessions(filter, page)
  const foldedMs = await reader.foldedUntilMs()
  return {
    sessions,
    next_cursor: nextBeforeId === null ? null : formatCallId(nextBeforeId),
    folded_until: foldedMs === null ? null : new Date(foldedMs).toISOString(),
  }
}
