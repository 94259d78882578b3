import { type IncomingHttpHeaders, type Server, type ServerResponse, createServer } from 'node:http'
import { listenOnLoopback } from '../../src/lib/http/http.ts'
import type { AlertMessage } from '../../src/api/alerts.ts'
import { Condition } from '../support/condition.ts'

/** A message as it came. */
export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A real receiver of alerts that answers as it is told. */
export interface TestReceiver extends AsyncDisposable {
  readonly origin: string
  readonly received: readonly Received[]
  /** Waits for so many messages. */
  waitFor(count: number): Promise<void>
  /** The `type` and the rule of each message in the format `json`: `alert.begins budget`. */
  types(): readonly string[]
}

/** A message whose subject is what a session was called by a stranger. */
export const sampleMessage: AlertMessage = {
  id: 'msg_1',
  at: '2026-11-22T10:00:00.000Z',
  kind: 'begins',
  rule: 'velocity',
  subject: 'run <!channel> @everyone **x** &',
  title: 'Runaway session or client',
  text: 'This session uses 1,200,000 tokens a minute, over 5 minutes.',
  since: '2026-11-22T10:00:00.000Z',
  state: 'pending',
  detail: null,
}

/** `answer` is given the number of the message, from 0; 204 unless told. */
export async function startReceiver(
  answer: (response: ServerResponse, index: number) => void = (response) => response.writeHead(204).end(),
): Promise<TestReceiver> {
  const received: Received[] = []
  const condition = new Condition()
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { url: path = '', headers } = request
      received.push({ path, headers, body: Buffer.concat(chunks).toString() })
      condition.changed()
      answer(response, received.length - 1)
    })
  })
  const listening = await listenOnLoopback(server)
  return {
    origin: listening.origin,
    received,
    waitFor: async (count) => {
      await condition.until(() => received.length >= count || undefined, `${count} messages`, 30_000)
    },
    types: () =>
      received.map(({ body }) => {
        const { type, data } = JSON.parse(body) as { type: string; data: { rule: string } }
        return `${type} ${data.rule}`
      }),
    [Symbol.asyncDispose]: () => listening.close(),
  }
}
