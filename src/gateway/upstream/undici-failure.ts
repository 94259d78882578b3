import { Failure, type FailureCode } from '../../call/failure.ts'
import { errors } from './undici.ts'

/** Progress of an attempt when it failed. */
export interface AttemptProgress {
  /** True if the request may have left on a socket. */
  readonly started: boolean
  /** A status was received. */
  readonly answered: boolean
  /** The socket had carried an earlier attempt. */
  readonly reusedSocket: boolean
  /** Largest head of an answer that is taken. */
  readonly maxHeaderBytes: number
}

/** True if the upstream's address has no listener: nothing was sent, and a retry may succeed. */
export function isRefused(error: Error): boolean {
  return 'code' in error && error.code === 'ECONNREFUSED'
}

/** undici misses the body that a 304's Content-Length speaks of; it has none (RFC 9110 §8.6). */
export function isBodylessMismatch(error: Error, status: number): boolean {
  return (status === 304 || status === 204) && error instanceof errors.ResponseContentLengthMismatchError
}

/** Maps an error of undici, the socket or the resolver to a failure of our catalogue. */
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
    const message = `The head of the upstream's answer is larger than ${limit}, the most that is taken.`
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

/** A reason for people: the codes of the socket and the resolver say more than their sentences. */
function reasonOf(error: Error): string {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return reasonOf(error.errors[0])
  const code = 'code' in error && typeof error.code === 'string' ? error.code : null
  switch (code) {
    case 'ECONNREFUSED':
      return 'nothing listens there (ECONNREFUSED)'
    case 'ENOTFOUND':
      return 'its name is not known (ENOTFOUND)'
    case 'EAI_AGAIN':
      return 'its name cannot be looked up now (EAI_AGAIN)'
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
