import { writeFileSync } from 'node:fs'
import { startDashboardProcess } from './dashboard-process.ts'
import { startGatewayProcess } from './gateway-process.ts'
import { exchange } from './exchange.ts'
import { untilCalls, untilHealth } from './gateway-state.ts'
import { asRecord } from './json-record.ts'
import { openRawClient } from './raw-client.ts'
import { cut, stall, write } from './reply-step.ts'
import { startSimulatedUpstream } from './simulated-upstream.ts'
import { makeTempDir } from './temp-dir.ts'
import { uploadClients } from './upload-clients.ts'

const uploadBytes = 10_000_000

/** An upload that is refused before it has come. */
interface Refused {
  readonly origin: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly status: number
  /** Of the gateway's answer; the dashboard and an upstream send none. */
  readonly code: string
}

/** How many of so many refusals arrived; `lost` are those that did not, in words. */
export interface RefusedUploads {
  readonly arrived: number
  readonly of: number
  readonly lost: readonly string[]
}

/** Uploads 10 MB to what refuses it, with each program of {@link uploadClients} and so many times. */
export async function refusedUploads(times: number): Promise<RefusedUploads> {
  await using cleanup = new AsyncDisposableStack()
  const { path: directory } = cleanup.use(await makeTempDir())
  const file = `${directory}/upload`
  writeFileSync(file, Buffer.alloc(uploadBytes, 'x'))
  const early = 'HTTP/1.1 422 Unprocessable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'
  const upstream = cleanup.use(
    await startSimulatedUpstream({
      reply: ({ target }) => {
        if (target.endsWith('/early')) return { after: 'head', steps: [write(early), cut()] }
        return target.endsWith('/hold') ? [stall()] : undefined
      },
    }),
  )
  const args = [
    '--max-concurrent',
    '1',
    '--queue-limit',
    '0',
    '--max-body-mb',
    '1',
    '--slot-cooldown-ms',
    '0',
  ]
  const full = cleanup.use(await startGatewayProcess({ upstream: upstream.baseUrl, args }))
  const spent = cleanup.use(
    await startGatewayProcess({
      upstream: upstream.baseUrl,
      args: ['--token-limit', '1', '--budget-action', 'reject', '--max-concurrent', '2'],
    }),
  )
  const plain = cleanup.use(await startGatewayProcess({ upstream: upstream.baseUrl }))
  const dashboard = cleanup.use(await startDashboardProcess())
  const holder = cleanup.use(await openRawClient(full.port))
  await holder.send('POST /v1/hold HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n')
  await untilCalls(full, { active: 1, queued: 0 })
  await exchange(spent.port, 'POST', '/v1/chat/completions', { body: '{"model":"m","messages":[]}' })
  await untilHealth(spent, 'its budget is used', (health) => {
    const budget = asRecord(health['token_budget'])
    return budget['known'] === true && Number(budget['total_used']) > 0
  })
  const refused: readonly Refused[] = [
    { origin: full.origin, path: '/v1/chat/completions', status: 413, code: 'body_too_large' },
    { origin: full.origin, path: '/v1/files', status: 503, code: 'queue_full' },
    { origin: full.origin, path: '/v1/a%00b', status: 400, code: 'invalid_request' },
    {
      origin: full.origin,
      path: '/v1/raw-log/clear',
      headers: { Via: '1.1 a' },
      status: 403,
      code: 'forbidden',
    },
    { origin: full.origin, path: '/files', status: 404, code: 'not_found' },
    { origin: full.origin, path: '/health', status: 405, code: 'method_not_allowed' },
    {
      origin: full.origin,
      path: '/v1/files',
      headers: { Via: 'x'.repeat(70_000) },
      status: 400,
      code: 'invalid_request',
    },
    { origin: spent.origin, path: '/v1/files', status: 429, code: 'token_budget_exceeded' },
    { origin: plain.origin, path: '/v1/early', status: 422, code: '' },
    {
      origin: dashboard.origin,
      path: '/api/notes',
      headers: { 'Content-Type': 'application/json' },
      status: 413,
      code: '',
    },
    { origin: dashboard.origin, path: '/api/none', status: 404, code: '' },
    {
      origin: dashboard.origin,
      path: '/api/notes',
      headers: { Origin: 'http://a.example' },
      status: 403,
      code: '',
    },
  ]
  let arrived = 0
  const lost: string[] = []
  const clients = await uploadClients()
  for (const [name, upload] of clients) {
    const each = refused.flatMap((one) => Array.from({ length: times }, () => one))
    const answers = await upload(
      file,
      each.map(({ origin, path, headers = {} }) => ({ url: origin + path, headers })),
    )
    for (const [at, { path, status, code }] of each.entries()) {
      const answer = answers[at]
      if (answer?.status === status && (code === '' || answer.code === code)) arrived += 1
      else lost.push(`${name}, ${path}: ${status} ${code} did not arrive, but ${JSON.stringify(answer)}`)
    }
  }
  return { arrived, of: clients.size * refused.length * times, lost }
}
