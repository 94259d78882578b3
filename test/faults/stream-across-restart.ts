/**
 * A stream that began before a restart and ended after it, compared byte for byte with what the upstream sent:
 * `node test/faults/stream-across-restart.ts [--seconds 60]`. Ends with 1 where a byte differs.
 */
import { createHash } from 'node:crypto'
import { parseArgs } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type AskedCall,
  InFlight,
  expectedAnswer,
  startCountedUpstream,
} from '../supervisor/counted-upstream.ts'
import { eventually } from '../support/eventually.ts'
import { makeWorkplace } from '../supervisor/workplace.ts'

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '60' } } })
const durationMs = Number(values.seconds) * 1000

const hashOf = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

await using upstream = await startCountedUpstream(new InFlight())
await using place = await makeWorkplace()
// Far shorter than the stream: the time that a stop would leave it has nothing to do with a restart.
const args = ['--port=0', `--upstream=${upstream.baseUrl}`, '--drain-timeout-ms=1000']
const supervisor = place.supervisor({ args })
const before = await supervisor.start()
const asked: AskedCall = { id: 'long', stream: true, durationMs }
const startedAt = performance.now()
const response = await fetch(`http://127.0.0.1:${before.port}/v1/chat/completions`, {
  method: 'POST',
  body: JSON.stringify({ model: 'm', ...asked }),
})
const received = response.arrayBuffer()
await sleep(durationMs / 4)
const after = await supervisor.restart()
const restartedAt = performance.now()
const other = await fetch(`http://127.0.0.1:${after.port}/health`)
const { pid } = (await other.json()) as { readonly pid: number }
await eventually('the report', async () => (await supervisor.status()).predecessors.length === 1)
const { message } = await supervisor.status()
const bytes = new Uint8Array(await received)
const endedAt = performance.now()
await supervisor.stop()
const isEqual = hashOf(bytes) === hashOf(expectedAnswer(asked))
const seconds = (ms: number): string => (ms / 1000).toFixed(1)
console.log(`status after the restart: ${message}`)
console.log(
  `measured: a stream of ${bytes.length} bytes over ${seconds(endedAt - startedAt)} s began in process ${before.pid}, ` +
    `which was replaced by process ${pid} after ${seconds(restartedAt - startedAt)} s; ` +
    `${isEqual ? 'every byte is as sent' : 'it differs from what was sent'} (SHA-256 ${hashOf(bytes).slice(0, 16)}…)`,
)
if (!isEqual || pid !== after.pid || pid === before.pid) process.exitCode = 1
