import { Failure, type FailureCode } from '../../call/failure.ts'
import { errors } from './undici.ts'

/** Progress of an attempt when it failed. */
export interface AttemptProgress {
  /** True if the request may have left on a socket. */
  readonly started: boolean
  /** True if a status was received. */
  readonly answered: boolean
  /** True if the socket had served an earlier attempt. */
  readonly reusedSocket: boolean
  /** Most bytes of an answer's head. */
  readonly maxHeaderBytes: number
}

/** True if nothing listens at the upstream's address. Nothing was sent, and a retry may succeed. */
export function isRefused(error: Error): boolean {
  return 'code' in error && error.code === 'ECONNREFUSED'
}

/** True if undici complains of a missing body after a 304, whose Content-Length announces no body (RFC 9110 §8.6). */
export function isBodylessMismatch(error: Error, status: number): boolean {
  return (status === 304 || status === 204) && error instanceof errors.ResponseContentLengthMismatchError
}

/** The failure for an error of undici, the socket or the resolver. */
export function failureOf(error: Error, progress: AttemptProgress): Failure {
  if (error instanceof Failure) return error
  const { started, answered, reusedSocket, maxHeaderBytes } = progress
  const failure = (code: FailureCode, message: string): Failure =>
    new Failure(code, message, { cause: error })
  if (error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError) {
    const what = answered ? 'sent nothing more in the allowed time' : 'did not answer in the allowed time'
    return failure('upstream_timeout', `The upstream ${what}.`)
  }
  if (answered) return failure('upstream_reset', `The upstream's answer broke off: ${reasonOf(error)}.`)
  if (error instanceof errors.HeadersOverflowError) {
    const limit = `${Math.floor(maxHeaderBytes / 1024)} KiB`
    const message = `The head of the upstream's answer is larger than ${limit}, the most that is accepted.`
    return failure('upstream_protocol_error', message)
  }
  if (isProtocolError(error)) {
    return failure('upstream_protocol_error', `The upstream's answer is not HTTP: ${reasonOf(error)}.`)
  }
  if (!started) return failure('upstream_unreachable', `The upstream cannot be reached: ${reasonOf(error)}.`)
  return new Failure('upstream_unreachable', 'The upstream closed the connection without an answer.', {
    cause: error,
    ...(reusedSocket ? { shouldRetry: true } : {}),
  })
}

function isProtocolError(error: Error): boolean {
  return (
    error instanceof errors.HTTPParserError ||
    error instanceof errors.ResponseContentLengthMismatchError ||
    (error instanceof errors.SocketError && error.message.startsWith('bad '))
  )
}

/** The reason for people. Codes of the socket and the resolver say more than their messages. */
function reasonOf(error: Error): string {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return reasonOf(error.errors[0])
  const code = 'code' in error && typeof error.code === 'string' ? error.code : null
  switch (code) {
    case 'ECONNREFUSED':
      return 'nothing listens there (ECONNREFUSED)'
    case 'ENOTFOUND':
      return 'its host name is unknown (ENOTFOUND)'
    case 'EAI_AGAIN':
      return 'its host name cannot be looked up now (EAI_AGAIN)'
    case 'UND_ERR_CONNECT_TIMEOUT':
      return 'no connection within the allowed time'
    case 'ECONNRESET':
    case 'UPSTREAM_RESET':
      return 'connection reset (ECONNRESET)'
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
      return `its certificate is not trusted here (${code}); NODE_EXTRA_CA_CERTS=<file> in the gateway's environment adds the one that signed it`
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
      return `it does not speak TLS there (${code})`
    case 'UND_ERR_SOCKET':
      return error.message
    default:
      return code === null ? error.message : `${error.message} (${code})`
  }
}
