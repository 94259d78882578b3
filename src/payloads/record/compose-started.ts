import { formatCallId } from '../../call/call-id.ts'
import type { CallStarted } from '../../api/raw-log.ts'
import { maskPath } from './mask-path.ts'
import type { TapBegin } from '../tap/tap-batch.ts'

/** The feed's event of a call that begins, as JSON. */
export function composeStarted({ callId, wallTimeMs, method, path }: TapBegin): string {
  const timestamp = new Date(wallTimeMs).toISOString()
  const event: CallStarted = {
    type: 'started',
    id: formatCallId(callId),
    timestamp,
    method,
    path: maskPath(path),
  }
  return JSON.stringify(event)
}
