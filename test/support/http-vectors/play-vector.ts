import { openRawClient } from '../raw-client.ts'
import type { RawResponse } from '../raw-response.ts'
import type { HttpVector, PassedOn } from './http-vector.ts'
import type { SeenRequest } from '../seen-request.ts'
import type { SimulatedUpstream } from '../simulated-upstream.ts'

/** A whole request behind a malformed one, which must never be taken for a second one. */
const smuggled = 'GET /v1/smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n'

/** What became of a vector. */
export interface PlayedVector {
  readonly answers: readonly RawResponse[]
  /** Bytes behind the answers that were to come. */
  readonly more: number
  readonly closed: boolean
  readonly forwarded: readonly SeenRequest[]
}

export interface Between {
  readonly port: number
  readonly upstream: SimulatedUpstream
  /** How long a server may take for what it has to do at once. */
  readonly limitMs: number
}

/** Sends a vector to a server that stands before the upstream, and looks at both of its sides. */
export async function playVector(
  vector: HttpVector,
  { port, upstream, limitMs }: Between,
): Promise<PlayedVector> {
  const seen = upstream.requests.length
  await using client = await openRawClient(port)
  await client.send(Buffer.from(vector.bytes + (vector.closes ? smuggled : ''), 'latin1'))
  const answers: RawResponse[] = []
  const next = (): Promise<RawResponse | null> => client.response('GET', limitMs).catch(() => null)
  while (answers.length < vector.statuses.length) {
    const answer = await next()
    if (answer === null) break
    answers.push(answer)
  }
  const isLast = vector.closes || answers.at(-1)?.header('connection')?.toLowerCase() === 'close'
  if (isLast) await client.waitForServerEnd(limitMs).catch(() => null)
  const closed = client.serverEnd !== undefined
  return { answers, more: client.received.length, closed, forwarded: upstream.requests.slice(seen) }
}

/** What differs from what the vector says, in words; empty where all is as it should be. */
export function differencesOf(vector: HttpVector, played: PlayedVector): readonly string[] {
  const differences: string[] = []
  const statuses = played.answers.map(({ status }) => status).join(' ')
  const wanted = vector.statuses.join(' ')
  if (statuses !== wanted) differences.push(`answered ${statuses || 'nothing'}, not ${wanted}`)
  if (played.more > 0) differences.push('answered more than was asked')
  if (vector.closes && !played.closed) differences.push('the connection stays open')
  vector.passes.forEach((request, i) => differences.push(...passedDifferences(request, played.forwarded[i])))
  for (const { method, target } of played.forwarded.slice(vector.passes.length)) {
    differences.push(`${method} ${target.slice(0, 60)} was forwarded`)
  }
  return differences
}

function passedDifferences(wanted: PassedOn, seen: SeenRequest | undefined): readonly string[] {
  if (seen === undefined) return [`${wanted.method} ${wanted.target.slice(0, 60)} was not forwarded`]
  const differences: string[] = []
  const line = `${seen.method} ${seen.target}`
  if (line !== `${wanted.method} ${wanted.target}`) differences.push(`forwarded as ${line.slice(0, 100)}`)
  const body = seen.body.toString('latin1')
  if (wanted.body !== undefined && body !== wanted.body) differences.push(`body ${JSON.stringify(body)}`)
  const lines = new Map<string, number>()
  for (let i = 0; i + 1 < seen.rawHeaders.length; i += 2) {
    const text = `${seen.rawHeaders[i]}: ${seen.rawHeaders[i + 1]}`
    lines.set(text, (lines.get(text) ?? 0) + 1)
    if (wanted.lacks?.includes(seen.rawHeaders[i]!.toLowerCase()) === true) {
      differences.push(`${text.slice(0, 60)} was forwarded`)
    }
  }
  for (const text of wanted.has ?? []) {
    const count = lines.get(text) ?? 0
    lines.set(text, count - 1)
    if (count <= 0) differences.push(`${text.slice(0, 60)} was not forwarded`)
  }
  return differences
}
