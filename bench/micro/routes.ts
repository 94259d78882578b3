/**
 * What it takes to find a call's upstream among 20 with 200 patterns: `node bench/micro/routes.ts`. Prints microseconds a call, the
 * median of 21 rounds: of a model that was asked for lately, of one that no pattern takes and nobody asked for before, by path.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../src/call/clock.ts'
import { Upstreams } from '../../src/gateway/routing/upstreams.ts'

const rounds = 21
const callsPerRound = 20_000
const named = Array.from({ length: 20 }, (_, index) => {
  const models = Array.from({ length: 10 }, (_unused, at) => `model-${index}-${at}-*`)
  return { name: `upstream-${index}`, urls: ['http://127.0.0.1:9'], models }
})
const folder = mkdtempSync(join(tmpdir(), 'routes-'))
const path = join(folder, 'upstreams.json')
writeFileSync(path, JSON.stringify({ version: 1, upstreams: named }))
const upstreams = new Upstreams({
  url: 'http://127.0.0.1:9',
  path,
  maxRpm: 0,
  maxTpm: 0,
  ownPorts: [],
  defaultKey: null,
  variable: () => undefined,
  clock: systemClock,
  isShared: false,
  admission: { maxConcurrent: 4, slotCooldownMs: 0, queueLimit: 0, queueTimeoutMs: 0 },
  connect: () => ({ options: {}, send: () => {}, close: () => Promise.resolve() }) as never,
  injectsUsage: false,
})
const models = Array.from({ length: 100 }, (_, index) => `model-${index % 20}-${index % 10}-large`)
let unknown = 0

const kinds: Readonly<Record<string, (index: number) => unknown>> = {
  known_model: (index) => upstreams.ofModel(models[index % models.length]!),
  unknown_model: () => upstreams.ofModel(`other-${unknown++}`),
  path: (index) => upstreams.byPath(`/upstream-${index % 20}/v1/chat/completions`),
  no_upstreams_path: () => upstreams.byPath('/v1/chat/completions'),
}

function medianUs(work: (index: number) => unknown): number {
  const times = Array.from({ length: rounds }, () => {
    const startedMs = performance.now()
    for (let index = 0; index < callsPerRound; index++) work(index)
    return ((performance.now() - startedMs) * 1000) / callsPerRound
  })
  return times.toSorted((a, b) => a - b)[rounds >> 1] ?? NaN
}

const results = Object.entries(kinds).map(([kind, work]) => [kind, Number(medianUs(work).toFixed(3))])
console.log(JSON.stringify(Object.fromEntries(results)))
await upstreams.close()
rmSync(folder, { recursive: true })
