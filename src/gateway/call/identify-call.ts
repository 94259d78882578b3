import type { CallIds } from '../../call/call-id.ts'
import type { Call } from '../../call/call.ts'
import type { ClientLabels } from './client-labels.ts'
import type { RequestHead } from '../http/request-head.ts'
import type { ForwardedPath, Target } from '../http/target.ts'

/** What a call is, as far as its head tells. */
export function identifyCall(
  method: string,
  target: Target,
  path: ForwardedPath,
  head: RequestHead,
  ids: CallIds,
  labels: ClientLabels,
): Call {
  const { userAgent, credential, clientLabel, session } = head
  return {
    id: ids.next(),
    type: path.callType,
    endpoint: labels.header(target.path) ?? '/',
    method,
    client: clientOf(clientLabel, userAgent, labels),
    userAgent: labels.header(userAgent),
    session: labels.header(session),
    keyFingerprint: credential === null ? null : labels.fingerprint(credential),
    clientRetry: head.clientRetry,
  }
}

function clientOf(label: string | null, userAgent: string | null, labels: ClientLabels): string | null {
  const chosen = labels.header(label)
  if (chosen !== null) return chosen
  const product = userAgent === null ? '' : labels.product(userAgent)
  return product === '' ? null : product
}
