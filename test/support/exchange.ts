import { setTimeout as sleep } from 'node:timers/promises'
import { openRawClient } from './raw-client.ts'
import type { RawResponse } from './raw-response.ts'
import type { HeaderLines } from './response-bytes.ts'

/** What a request is made of besides method and target. */
export interface RequestParts {
  /** After `Host`, as they stand; `Content-Length` is added where there is a body. */
  readonly headers?: HeaderLines
  readonly body?: string | Uint8Array
  /** `weir.localhost` unless told, so that it is told from the upstream's; `null` sends none. */
  readonly host?: string | null
  /** `1.1` unless told. */
  readonly httpVersion?: string
}

/** The exact bytes of a request; text is sent as Latin-1 in the head and as UTF-8 in the body. */
export function requestBytes(method: string, target: string, parts: RequestParts = {}): Buffer {
  const { headers = [], host = 'weir.localhost', httpVersion = '1.1' } = parts
  const body = parts.body === undefined ? null : Buffer.from(parts.body)
  const lines = [
    ...(host === null ? [] : [['Host', host] as const]),
    ...headers,
    ...(body === null ? [] : [['Content-Length', String(body.length)] as const]),
  ]
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return Buffer.concat([
    Buffer.from(`${method} ${target} HTTP/${httpVersion}\r\n${head}\r\n`, 'latin1'),
    body ?? Buffer.alloc(0),
  ])
}

/** One request on a connection of its own, and its answer. */
export async function exchange(
  port: number,
  method: string,
  target: string,
  parts?: RequestParts,
): Promise<RawResponse> {
  return exchangeBytes(port, requestBytes(method, target, parts), method)
}

/** As {@link exchange}, for bytes that may be no request at all. */
export async function exchangeBytes(
  port: number,
  bytes: string | Uint8Array,
  method?: string,
): Promise<RawResponse> {
  await using client = await openRawClient(port)
  await client.send(bytes)
  return await client.response(method)
}

/** The answer of a gateway that is not there yet: asks until its port is open. */
export async function whenOpen<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED')) throw error
      await sleep(1)
    }
  }
}
