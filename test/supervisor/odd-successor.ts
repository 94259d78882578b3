/**
 * A successor of another version: `node odd-successor.ts <data folder>`. It takes the gateway's place as a true one does, but
 * between its messages it says a thousand others of each damage, over its channel and over the control socket.
 */
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import { join } from 'node:path'
import { rmSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { damagedTexts } from '../support/damaged-messages.ts'

const [, , folder = ''] = process.argv
const each = 1000
/** Answers are asked for ten times a second: these of all that are damaged are given. */
const mostDamaged = 20
const step = 151
const damages = ['junk', 'cut', 'older'] as const
const answer = {
  slots: [{ name: '', holding: 3, clients: [] }],
  taken: 5,
  asks: [],
  rawLog: { enabled: true, untilMs: null },
  stopWithinMs: 10,
}

const ask = (question: object): Promise<unknown> => {
  const answered = new Promise((resolve) => process.once('message', resolve))
  process.send!(question)
  return answered
}
for (const damage of damages)
  for (const damaged of damagedTexts({ asks: 'handover' }, damage, each)) process.send!(damaged)
for (const damaged of damagedTexts({ ready: true, controlled: true }, 'older', each))
  process.send!(JSON.parse(damaged))
const told = await ask({ asks: 'handover', new_one: 1 })
if (!JSON.stringify(told).includes('"handover"')) process.exit(9)

const socket = join(folder, 'gateway.sock')
rmSync(socket, { force: true })
const texts = damages.flatMap((damage) => damagedTexts(answer, damage, each))
let given = 0
const onRequest = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
  const body = await text(req)
  if (req.url !== '/draining') {
    res.writeHead(404).end('{}')
    return
  }
  console.log(body)
  // What a newer version adds to an answer is ignored; the answer is obeyed.
  const none = { slots: [], taken: 0, minutes: [], rawLog: null, stopWithinMs: null }
  const asks = given === mostDamaged ? [{ seq: 7, cancel: null, new_one: [] }] : []
  const whole = JSON.stringify({ ...none, asks, new_one: {} })
  res.end(given < mostDamaged ? texts[(given * step) % texts.length] : whole)
  given++
}
const server = createServer((req, res) => void onRequest(req, res))
server.listen(socket, () => process.send!({ ready: true, controlled: true, new_one: 'x' }))
process.on('disconnect', () => {})
process.on('SIGTERM', () => process.exit(0))
