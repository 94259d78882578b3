/**
 * A successor of another version: `node odd-successor.ts <data folder>`. It takes the gateway's place as a true one does, but
 * between its messages it says a thousand others of each damage, over its channel and over the control socket.
 */
import { createServer } from 'node:http'
import { join } from 'node:path'
import { rmSync } from 'node:fs'
import { damagedTexts } from '../support/damaged-messages.ts'

const [, , folder = ''] = process.argv
const each = 1000
const damages = ['junk', 'cut', 'older'] as const
const orders = [
  { slots: { known: false, epoch: 'damaged' } },
  { slots: { known: true, granted: 3, contended: false } },
  { stopWithinMs: 10 },
  { moved: true },
  { rawLog: { enabled: true, untilMs: null } },
]

const ask = (question: object): Promise<unknown> => {
  const answer = new Promise((resolve) => process.once('message', resolve))
  process.send!(question)
  return answer
}
for (const damage of damages)
  for (const text of damagedTexts({ asks: 'handover' }, damage, each)) process.send!(text)
for (const text of damagedTexts({ ready: true, controlled: true }, 'older', each))
  process.send!(JSON.parse(text))
const told = await ask({ asks: 'handover', new_one: 1 })
if (!JSON.stringify(told).includes('"handover"')) process.exit(9)

const socket = join(folder, 'gateway.sock')
rmSync(socket, { force: true })
const server = createServer((req, res) => {
  if (req.url !== '/draining') {
    res.writeHead(404).end('{}')
    return
  }
  res.writeHead(200, { 'Content-Type': 'application/x-ndjson' }).flushHeaders()
  for (const damage of damages) {
    for (const order of orders)
      for (const text of damagedTexts(order, damage, each)) if (!isWhole(text)) res.write(`${text}\n`)
  }
  // What a newer version adds to an order is ignored; the order is obeyed.
  res.write(`${JSON.stringify({ slots: { known: false, epoch: 'odd', new_one: [] }, new_one: {} })}\n`)
  req.on('data', (text: Buffer) => process.stdout.write(text))
})
server.listen(socket, () => process.send!({ ready: true, controlled: true, new_one: 'x' }))
process.on('disconnect', () => {})
process.on('SIGTERM', () => process.exit(0))

/** Of an order with one member nothing is left to be older. */
function isWhole(text: string): boolean {
  return orders.some((order) => JSON.stringify(order) === text)
}
