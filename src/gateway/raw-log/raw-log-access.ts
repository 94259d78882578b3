import { Failure } from '../../call/failure.ts'
import { type RequestSource, isCrossSite, isFromThisMachine } from '../../lib/request-source.ts'
import type { SecretToken } from '../../lib/secret-token.ts'

/** What of a request's head decides whether it may see payloads. */
export interface RawLogVisit extends RequestSource {
  /** `x-tokenweir-admin-token`. */
  readonly adminToken: string | null
}

/**
 * Why a request may not see payloads, or null where it may: nothing that a gateway has is more private. The name under
 * which it is asked was looked at before.
 */
export function rawLogRefusal(
  visit: RawLogVisit,
  remoteAddress: string | undefined,
  adminToken: SecretToken | null,
): Failure | null {
  if (isCrossSite(visit)) {
    return new Failure('forbidden', "The raw log is not answered to other sites' pages.")
  }
  if (isFromThisMachine(visit, remoteAddress) || adminToken?.matches(visit.adminToken) === true) return null
  const how =
    adminToken === null
      ? 'TOKENWEIR_ADMIN_TOKEN sets an admin token, with which it is answered elsewhere too.'
      : 'From elsewhere it takes the admin token, as x-tokenweir-admin-token.'
  return new Failure('forbidden', `The raw log is answered to programs on this machine alone. ${how}`)
}
