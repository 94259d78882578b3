/**
 * That `--budget-action reject` limits whatever becomes of the gateway and its clients:
 * `node test/faults/budget-limits.ts --figure R33|R34|R35`. Ends with 1 where the figure does not hold.
 */
import { parseArgs } from 'node:util'
import {
  restartsBesideAReservation,
  startWithLockedDatabase,
  startsBeyondTheLimit,
  streamsThatAreLeft,
} from './budget-rounds.ts'

const { values } = parseArgs({ options: { figure: { type: 'string', default: 'R33' } } })

interface Result {
  readonly holds: boolean
  readonly words: string
}

const clients = 40

async function afterKills(): Promise<Result> {
  const { starts, refused, admitted } = await startsBeyondTheLimit(30, clients)
  const locked = await startWithLockedDatabase(clients)
  const isTold = locked.warnings.includes('budget_unknown') && locked.known === false
  const waited = locked.early.filter((answer) => answer === '503 budget_unknown').length
  const holds =
    admitted + locked.admitted === 0 && refused === starts * clients && isTold && waited === clients
  return {
    holds,
    words:
      `${starts} kills and starts with ${clients} clients at the port: ${admitted} of ${starts * clients} calls admitted, ${refused} refused; ` +
      `database locked: ${locked.admitted} admitted, ${waited} of ${clients} answered 503 after their wait, one that still waited ${locked.late}; warnings ${locked.warnings.join(' ')}`,
  }
}

async function acrossRestarts(): Promise<Result> {
  const { restarts, refused, admitted, isFreed } = await restartsBesideAReservation(10, 10)
  return {
    holds: admitted === 0 && refused === restarts * 10 && isFreed,
    words: `${restarts} restarts beside a call that may use 900 of 1,000: ${admitted} admitted, ${refused} refused; room again at its end: ${isFreed}`,
  }
}

async function leftStreams(): Promise<Result> {
  const { limit, streams, streamed, estimated, inRows, isKept } = await streamsThatAreLeft(8, 20_000)
  const share = streamed / limit
  return {
    holds: share > 0.9 && share < 1.1 && inRows === 0 && isKept,
    words: `${streams} streams left before their usage: refused at ${streamed} of ${limit} tokens streamed (${(share * 100).toFixed(1)} %), ${estimated} estimated, ${inRows} in rows; the same after kill -9: ${isKept}`,
  }
}

const figures: Readonly<Record<string, () => Promise<Result>>> = {
  R33: afterKills,
  R34: acrossRestarts,
  R35: leftStreams,
}
const measure = figures[values.figure]
if (measure === undefined) throw new Error(`no figure ${values.figure}`)
const { holds, words } = await measure()
console.log(`measured: ${words}`)
if (!holds) process.exitCode = 1
