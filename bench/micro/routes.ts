/**
 * What it takes to find a call's upstream among 20 with 200 patterns: `node bench/micro/routes.ts`. Prints microseconds a call, the
 * median of 21 rounds: of a model that was asked for lately, of one that no pattern takes and nobody asked for before, by path.
 */
import { NamedRoutes } from '../../src/gateway/routing/named-routes.ts'
import type { NamedUpstream } from '../../src/gateway/routing/named-upstream.ts'
import type { CallUpstream } from '../../src/gateway/call/call-upstream.ts'
import type { RunningCall } from '../../src/gateway/call/running-call.ts'

const rounds = 21
const callsPerRound = 20_000
const named = Array.from({ length: 20 }, (_, index) => {
  const models = Array.from({ length: 10 }, (_unused, at) => `model-${index}-${at}-*`)
  return { name: `upstream-${index}`, setting: { name: `upstream-${index}`, urls: [], models } }
})
const routes = new NamedRoutes(
  named as unknown as readonly NamedUpstream[],
  { name: null } as unknown as CallUpstream,
)
const call = (model: string): RunningCall =>
  ({ facts: { model }, arrived: { target: { path: '/v1/chat/completions' } } }) as unknown as RunningCall
const calls = Array.from({ length: 100 }, (_, index) => call(`model-${index % 20}-${index % 10}-large`))
let unknown = 0

const kinds: Readonly<Record<string, (index: number) => unknown>> = {
  known_model: (index) => routes.byModel(calls[index % calls.length]!),
  unknown_model: () => routes.byModel(call(`other-${unknown++}`)),
  path: (index) => routes.byPath(`/upstream-${index % 20}/v1/chat/completions`),
  no_upstreams_path: () => routes.byPath('/v1/chat/completions'),
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
