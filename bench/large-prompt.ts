import { once } from 'node:events'
import { request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { BenchOptions } from './bench-options.ts'
import { type Counted, Load } from './load.ts'
import { type BenchResult, type Goal, median, range, voidFailures, voidLoad } from './summary.ts'
import { type Target, type TargetName, startTargets } from './targets/target.ts'

const defaultStreams = 50
const eventsPerStreamS = 20
const promptBytes = 20_000_000
const warmMs = 1000
const goalMs = 5
/** Left out: one prompt is not answered within a minute. */
const tooSlow: ReadonlySet<TargetName> = new Set(['simple-router'])

/** Pauses of a target's streams in each round. */
export interface Pauses {
  readonly quiet: Counted[]
  /** While large prompts followed one another. */
  readonly beside: Counted[]
  /** Prompts that passed, in all rounds together. */
  prompts: number
}

/** P10: the longest that an event of another stream takes from its write to its read while a large prompt passes. */
export async function benchLargePrompt(options: BenchOptions): Promise<BenchResult> {
  const streams = options.clients ?? defaultStreams
  const ms = options.seconds * 1000
  await using stack = new AsyncDisposableStack()
  const load = stack.use(new Load())
  const names = options.targets.filter((name) => !tooSlow.has(name))
  const targets = await startTargets(names, await load.start(), stack)
  const prompt = Buffer.from(
    JSON.stringify({ model: 'sim-small', messages: [{ role: 'user', content: 'A'.repeat(promptBytes) }] }),
  )
  const samples = new Map<TargetName, Pauses>(
    names.map((name) => [name, { quiet: [], beside: [], prompts: 0 }]),
  )
  for (let round = 0; round < options.rounds; round++) {
    for (const target of targets) {
      const pauses = samples.get(target.name)!
      const { pid, port, headers } = target
      await load.openStreams({ port, headers, streams, fromWrite: true })
      await load.pace(eventsPerStreamS)
      // The first one grows buffers that those after it use again.
      await send(target, prompt)
      await load.events(pid, warmMs)
      pauses.quiet.push(await load.events(pid, ms))
      const counting = load.events(pid, ms)
      const isOver = counting.then(() => true)
      do {
        await send(target, prompt)
        pauses.prompts += 1
      } while (!(await Promise.race([isOver, delay(0, false)])))
      pauses.beside.push(await counting)
      await load.closeStreams()
    }
  }
  return largePromptResult(streams, samples, options)
}

async function send({ name, port, headers }: Target, body: Buffer): Promise<void> {
  const own = { 'content-type': 'application/json', 'content-length': body.length, ...headers }
  const sent = request({
    host: '127.0.0.1',
    port,
    method: 'POST',
    path: '/v1/chat/completions',
    headers: own,
    agent: false,
  })
  sent.end(body)
  const [answer] = await once(sent, 'response')
  answer.resume()
  await once(answer, 'end')
  if (answer.statusCode !== 200) throw new Error(`${name}: a large prompt was answered ${answer.statusCode}`)
}

export function largePromptResult(
  streams: number,
  samples: ReadonlyMap<TargetName, Pauses>,
  { rounds, seconds }: Pick<BenchOptions, 'rounds' | 'seconds'>,
): BenchResult {
  const longest = (found: readonly Counted[]): readonly number[] => found.map(({ waits }) => waits.at(1))
  const table = [
    ['target', 'longest ms', 'range', 'without a prompt', 'range', 'p99 ms', 'without', 'prompts'],
  ]
  const goals: Goal[] = []
  const notes: string[] = []
  for (const [name, { quiet, beside, prompts }] of samples) {
    const both = [longest(beside), longest(quiet)] as const
    const p99 = [beside, quiet].map((found) => median(found.map(({ waits }) => waits.at(0.99))).toFixed(2))
    const cells = both.flatMap((found) => [median(found).toFixed(2), range(found, 2)])
    table.push([name, ...cells, ...p99, String(prompts)])
    if (name === 'tokenweir')
      goals.push({
        what: 'longest pause of other streams',
        value: median(both[0]),
        atMost: goalMs,
        unit: 'ms',
      })
    if (median(both[1]) > goalMs)
      notes.push(`${name}: void, pauses are over ${goalMs} ms without a prompt, too`)
    const perS = median(beside.map((sample) => sample.perS))
    notes.push(
      ...voidLoad(name, perS, streams * eventsPerStreamS),
      ...voidFailures(name, [...quiet, ...beside]),
    )
  }
  return {
    name: 'p10-large-prompt',
    title:
      `P10: longest from write to read of an event, ${streams} streams of ${eventsPerStreamS} a second, ` +
      `while prompts of 20 MB pass, ${rounds} × ${seconds} s`,
    table,
    goals,
    notes,
    data: Object.fromEntries(samples),
  }
}
