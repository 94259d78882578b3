import type { IncomingMessage } from 'node:http'
import { Failure } from '../../call/failure.ts'

const maxBodyBytes = 64 * 1024

/**
 * A body has to say that it is JSON: a form, or text that merely looks like JSON, is what another site's page could
 * send without asking first. Throws `invalid_request`.
 */
export function checkBodyType(req: IncomingMessage): void {
  const { 'content-length': length, 'transfer-encoding': coding, 'content-type': type = '' } = req.headers
  const hasBody = coding !== undefined || Number(length ?? 0) > 0
  if (!hasBody || /^application\/json\s*(?:;|$)/i.test(type)) return
  throw new Failure('invalid_request', 'A body must be JSON and say so: Content-Type: application/json.')
}

/** A body of an own route; empty where there is none. Rejects with `body_too_large`, or `client_gone`. */
export async function readSmallBody(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let byteLength = 0
  try {
    // An iterator that is left early would destroy the connection, which has to bring the refusal.
    for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      byteLength += chunk.length
      if (byteLength > maxBodyBytes) {
        throw new Failure('body_too_large', `The body is larger than ${maxBodyBytes / 1024} kB.`)
      }
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof Failure) throw error
    throw new Failure('client_gone', 'The client left while it sent its request.', { cause: error })
  }
  return Buffer.concat(chunks).toString()
}
