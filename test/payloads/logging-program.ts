/**
 * Logs imagined calls until it is told to stop, or is killed: `node logging-program.ts <file> <segment bytes>
 * <total bytes> <id bits> <calls> <ms between rounds>`; SIGTERM tells it to. Says `call <id>` of each call whose records a `recent` has seen.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { CallIds, formatCallId } from '../../src/call/call-id.ts'
import { RawLog } from '../../src/payloads/raw-log.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { passBy } from './imagined-call.ts'

const [filePath = '', segmentBytes, totalBytes, idBits, calls, pauseMs] = process.argv.slice(2)
const log = new RawLog({
  filePath,
  segmentBytes: Number(segmentBytes),
  totalBytes: Number(totalBytes),
  idBits: Number(idBits),
  capture: 'all',
  maxBodyBytes: 2 ** 20,
  salt: Buffer.alloc(16),
})
log.toggle(true, null)
const ids = new CallIds(() => Date.now(), Number(idBits))
const random = seededRandom(Number(idBits))
const callsPerRound = 20
const told = new AbortController()
process.once('SIGTERM', () => told.abort())
for (let passed = 0; passed < Number(calls) && log.enabled && !told.signal.aborted; passed += callsPerRound) {
  const round = Array.from({ length: callsPerRound }, () => ids.next())
  for (const id of round) {
    const fill = 'x'.repeat(Math.floor(random() ** 3 * 5000))
    passBy(log, {
      id,
      request: JSON.stringify({ fill }),
      answer: [`data: {"fill":"${fill}"}\n\n`, 'data: [DONE]\n\n'],
    })
  }
  // Only what the thread has written is promised.
  await log.recent(1).catch(() => {})
  process.stdout.write(`${round.map((id) => `call ${formatCallId(id)}`).join('\n')}\n`)
  await delay(Number(pauseMs))
}
const { enabled, trouble, dropped } = log.status()
process.stdout.write(`end ${JSON.stringify({ enabled, trouble, dropped })}\n`)
await log.close()
