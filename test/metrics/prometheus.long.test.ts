/** A real Prometheus scrapes a gateway; each panel of the dashboard says what `/api/query` says. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, type IncomingMessage, request as makeRequest } from 'node:http'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { fieldsOf } from '../support/fields-of.ts'
import { inParallel } from '../support/in-parallel.ts'
import { promtool, type Series, startPrometheus } from '../support/prometheus.ts'
import { type ReplyStep, stall, wait, write } from '../support/reply-step.ts'
import { chunkFrame, jsonReply, lastChunk, sseEvent, streamHead } from '../support/response-bytes.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { startUpProcess } from '../support/up-process.ts'
import { until } from './until-answered.ts'

const ops = fileURLToPath(new URL('../../ops/', import.meta.url))
const knownCalls = 1000
const hostileNames = 2000
/** Not to be used up within four hours at the pace of this test. */
const tokenLimit = 1e12

/** What a call asks its upstream for, in its body. */
interface Asked {
  readonly model: string
  readonly ends: 'well' | 'failing' | 'left'
  readonly stream: boolean
  readonly input: number
  readonly output: number
}

function usageOf({ input, output }: Asked): object {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: Math.floor(input / 2) },
    cost: (input + output) / 1000,
  }
}

function replyTo(asked: Asked): ReplyStep[] {
  if (asked.ends === 'failing') return jsonReply(500, { error: { message: 'as it was told to' } })
  if (asked.ends === 'left') return [stall()]
  const { model, stream } = asked
  if (!stream) {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }]
    return jsonReply(200, { model, choices, usage: usageOf(asked) })
  }
  const event = (data: object): ReplyStep => write(chunkFrame(sseEvent({ model, ...data })))
  const pieces = Array.from({ length: asked.output }, (_, at) => [
    ...(at === 0 ? [] : [wait(2)]),
    event({ choices: [{ index: 0, delta: { content: 'x' }, finish_reason: null }] }),
  ])
  return [
    write(streamHead),
    ...pieces.flat(),
    event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
    event({ choices: [], usage: usageOf(asked) }),
    write(Buffer.concat([chunkFrame(sseEvent('[DONE]')), lastChunk()])),
  ]
}

const dir = await makeTempDir()
/** Calls that wait at the upstream for their client to leave, by their numbers. */
const stalled = new Set<string | undefined>()
const upstream = await startSimulatedUpstream({
  reply: (request) => ({
    steps: (function* () {
      const body = request.json() as unknown as Asked
      if (body.ends === 'left') stalled.add(request.header('x-number'))
      yield* replyTo(body)
    })(),
  }),
})
const up = await startUpProcess({
  directory: dir.path,
  args: [
    '--upstream',
    upstream.baseUrl,
    '--max-concurrent',
    '16',
    '--slot-cooldown-ms',
    '0',
    '--token-limit',
    String(tokenLimit),
  ],
})
const prometheus = await startPrometheus(`
global: { scrape_interval: 250ms, scrape_timeout: 250ms, evaluation_interval: 500ms }
rule_files: ['${ops}prometheus/alerts.yml']
scrape_configs:
  - job_name: tokenweir
    static_configs: [{ targets: ['${new URL(up.gateway).host}'] }]
`)
after(async () => {
  agent.destroy()
  await prometheus[Symbol.asyncDispose]()
  await up[Symbol.asyncDispose]()
  await upstream.close()
  await dir[Symbol.asyncDispose]()
})

const agent = new Agent({ keepAlive: true })
let callsMade = 0

/** One call, to its end; `fetch` would take three times as long. */
async function call(asked: Asked): Promise<void> {
  const number = String(callsMade++)
  const options = { method: 'POST', agent, headers: { 'x-number': number } }
  const request = makeRequest(`${up.gateway}/v1/chat/completions`, options)
  request.on('error', () => {})
  request.end(JSON.stringify({ ...asked, messages: [] }))
  if (asked.ends === 'left') {
    await upstream.waitFor(`call ${number} is there`, () => stalled.has(number))
    request.destroy()
    return
  }
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  answer.resume()
  await once(answer, 'end')
}

type Numbers = Readonly<Record<string, number>>
/** The least and the most that a figure may be. */
type Between = readonly [least: number, most: number]
type Wanted = Readonly<Record<string, number | Between>>
type Row = Readonly<Record<'outcome' | 'model' | 'call_type', string>> &
  Readonly<Record<Measure, number | null>>
type Measure = 'duration_ms' | 'ttft_ms' | 'queue_ms' | 'overhead_ms' | 'tpot_ms'
type Figures = Readonly<Record<string, number>>

async function asked<T>(parameters: string): Promise<T> {
  const answer = await fetch(`${up.dashboard}/api/query?${parameters}`)
  assert.equal(answer.status, 200)
  return (await answer.json()) as T
}

/** A figure of `/api/query` by the entries of a dimension. */
async function grouped(from: string, dimension: string, figure: string): Promise<Numbers> {
  const { groups } = await asked<{ groups: readonly (Figures & { readonly key: string })[] }>(
    `from=${from}&group_by=${dimension}`,
  )
  return Object.fromEntries(groups.map((group) => [group.key, group[figure] ?? 0]))
}

/** What Prometheus makes of values that it has only in buckets: linear between two bounds. */
function bucketQuantile(part: number, valuesMs: readonly number[], bounds: readonly number[]): number {
  const below = bounds.map((bound) => valuesMs.filter((ms) => ms / 1000 <= bound).length)
  const rank = part * valuesMs.length
  const at = below.findIndex((count) => count >= rank)
  const [lower, under] = at === 0 ? [0, 0] : [bounds[at - 1]!, below[at - 1]!]
  return lower + ((bounds[at]! - lower) * (rank - under)) / (below[at]! - under)
}

interface Panel {
  readonly title: string
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[]
}

const { panels }: { panels: readonly Panel[] } = JSON.parse(
  readFileSync(`${ops}grafana/tokenweir.json`, 'utf8'),
)

/** What each line of a panel is at an instant, by its name in the legend. */
async function shown(panel: Panel, atS: number, windowMs: number): Promise<Numbers> {
  const found: Record<string, number> = {}
  for (const { expr, legendFormat } of panel.targets) {
    const expression = expr
      .replaceAll('$instance', '.*')
      .replaceAll(/\$__(?:rate_interval|range)\b/g, `${windowMs}ms`)
    for (const { labels, samples } of await prometheus.query(expression, atS)) {
      found[legendFormat.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => labels[label] ?? '')] =
        samples[0]![1]
    }
  }
  return found
}

const only = (series: readonly Series[]): number | undefined => series[0]?.samples[0]?.[1]

/** The time of a scrape that has seen so many calls, in seconds. */
function untilScraped(calls: number): Promise<number> {
  return until(`${calls} calls`, async () => {
    const atS = only(await prometheus.query('timestamp(tokenweir_slots_max)'))
    if (atS === undefined) return null
    return only(await prometheus.query('sum(tokenweir_calls_total)', atS)) === calls ? atS : null
  })
}

const models = ['large', 'small', 'tiny']

/**
 * Makes calls until every series has begun: a rise from nothing is none to Prometheus. A stream whose chunks came at once
 * has no time per output token, so that it may take some.
 */
async function untilAllSeriesAre(): Promise<{ readonly fromS: number; readonly calls: number }> {
  let calls = 0
  for (;;) {
    const some = models.flatMap((model) =>
      (['well', 'failing', 'left'] as const).map((ends): Asked => ({
        model,
        ends,
        stream: ends === 'well',
        input: 10,
        output: 5,
      })),
    )
    await inParallel(some, 4, call)
    calls += some.length
    const fromS = await untilScraped(calls)
    const timed = await prometheus.query('tokenweir_time_per_output_token_seconds_count', fromS)
    if (timed.length === models.length) return { fromS, calls }
  }
}

test('the numbers of each panel are those of /api/query', async (t) => {
  const { fromS, calls: earlier } = await untilAllSeriesAre()
  const random = seededRandom(11)
  const known = Array.from({ length: knownCalls }, (_, at): Asked => ({
    model: models[(at % 7) % 3]!,
    ends: at % 10 === 3 ? 'failing' : at % 50 === 9 ? 'left' : 'well',
    stream: at % 2 === 0,
    input: 1 + Math.floor(random() * 100),
    output: 2 + Math.floor(random() * 20),
  }))
  await inParallel(known, 24, call)
  const toS = await untilScraped(earlier + knownCalls)

  const windowMs = Math.round((toS - fromS) * 1000)
  const perS = 1000 / windowMs
  /** What the window's millisecond makes of a count at most, as a share. */
  const atMost = 2 / windowMs
  const from = new Date(fromS * 1000).toISOString()
  const { summary, calls } = await asked<{ summary: Figures; calls: readonly Row[] }>(
    `from=${from}&limit=10000`,
  )
  assert.equal(summary['calls'], knownCalls)
  const well = calls.filter(({ outcome }) => outcome === 'ok')
  /** A row's times are rounded by so much at most: one at the limit of a bucket may lie on its other side in the metrics. */
  const roundedMs = 0.0005
  /**
   * Prometheus reaches back over the window's millisecond in series that began before it, and in no others: a bucket's
   * count may be off by that share, and with it the rank that is looked for.
   */
  const quantile = async (part: number, measure: Measure, name: string, model?: string): Promise<Between> => {
    const some = await prometheus.query(`sum by (le) (tokenweir_${name}_seconds_bucket)`, toS)
    const bounds = some.map(({ labels }) => Number(labels['le']!.replace('+Inf', 'Infinity')))
    // Calls that failed have waited, too.
    const rows = measure === 'queue_ms' ? calls : well
    const values = rows.filter((row) => model === undefined || row.model === model).map((row) => row[measure])
    const valueAt = (share: number, shiftMs: number): number =>
      bucketQuantile(
        share,
        values.filter((ms) => ms !== null).map((ms) => ms + shiftMs),
        bounds.toSorted((one, other) => one - other),
      )
    return [valueAt(part - atMost, -roundedMs), valueAt(Math.min(1, part + atMost), roundedMs)]
  }
  const ofModels = async (figure: (model: string) => Promise<Between>): Promise<Wanted> =>
    Object.fromEntries(await Promise.all(models.map(async (model) => [model, await figure(model)] as const)))
  const scaled = (numbers: Numbers): Numbers =>
    Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, value * perS]))
  const health = (await (await fetch(`${up.gateway}/health`)).json()) as {
    readonly token_budget: { readonly total_used: number }
  }

  const expected: Readonly<Record<string, Wanted>> = {
    Calls: scaled(await grouped(from, 'outcome', 'calls')),
    Errors: { errors: summary['error_rate']! },
    Failures: await grouped(from, 'failure_code', 'calls'),
    'Slots and queue': { 'in flight': 0, waiting: 0, slots: 16 },
    Duration: {
      p50: await quantile(0.5, 'duration_ms', 'call_duration'),
      p95: await quantile(0.95, 'duration_ms', 'call_duration'),
      p99: await quantile(0.99, 'duration_ms', 'call_duration'),
    },
    'Time to first token': await ofModels((model) => quantile(0.95, 'ttft_ms', 'time_to_first_token', model)),
    'Queue wait and overhead': {
      'queue wait': await quantile(0.95, 'queue_ms', 'queue_wait'),
      overhead: await quantile(0.95, 'overhead_ms', 'overhead'),
    },
    'Output speed': await ofModels(async (model) => {
      const [least, most] = await quantile(0.5, 'tpot_ms', 'time_per_output_token', model)
      return [1 / most, 1 / least]
    }),
    Tokens: scaled({
      input: summary['input_tokens']!,
      output: summary['output_tokens']!,
      'input from a cache': summary['cached_input_tokens']!,
    }),
    Cost: await grouped(from, 'model', 'cost_usd'),
    'Token budget': { used: health.token_budget.total_used / tokenLimit },
    'Warnings and lost records': { 'lost records': 0 },
  }
  assert.deepEqual(fieldsOf(panels, 'title'), Object.keys(expected))
  for (const panel of panels) {
    await t.test(panel.title, async () => {
      // A window that ends with a sample on each side, plus one millisecond, as newer versions leave out its very start.
      const found = await shown(panel, toS, windowMs + 1)
      const wanted = expected[panel.title]!
      assert.deepEqual(Object.keys(found).sort(), Object.keys(wanted).sort())
      for (const [name, value] of Object.entries(wanted)) {
        const [least, most] = typeof value === 'number' ? [value, value] : value
        const off = Math.max(least - found[name]!, found[name]! - most)
        // Percentiles within 1%, as everywhere; all else exactly, but for the window's millisecond.
        const part = panel.targets.some(({ expr }) => expr.includes('histogram_quantile')) ? 0.01 : atMost
        assert.ok(off <= Math.abs(most) * part, `${name}: ${found[name]} in place of ${least} to ${most}`)
      }
    })
  }
})

test("the alerts' expressions can be evaluated, and what they find is there", async () => {
  const wanted = [
    ['TokenweirDown', 'ok', 'inactive'],
    ['TokenweirErrors', 'ok', 'pending'],
    ['TokenweirQueueWait', 'ok', 'inactive'],
    ['TokenweirBudget', 'ok', 'inactive'],
    ['TokenweirRecordsLost', 'ok', 'inactive'],
    ['TokenweirDegraded', 'ok', 'inactive'],
  ]
  let found: unknown
  // A scrape that comes too late on a busy machine counts as none for a moment.
  const isFound = async (): Promise<true | null> => {
    const { groups } = (await prometheus.api('rules')) as {
      groups: readonly { rules: readonly AlertRule[] }[]
    }
    const rules = groups.flatMap((group) => group.rules)
    found = rules.map(({ name, health, state }) => [name, health, state])
    return isDeepStrictEqual(found, wanted) ? true : null
  }
  await until('all were evaluated', isFound).catch(() => undefined)
  assert.deepEqual(found, wanted)
})

interface AlertRule {
  readonly name: string
  readonly health: string
  readonly state: string
}

test('promtool finds no fault with the alerts, and they say what they are to', () => {
  promtool(['check', 'rules', `${ops}prometheus/alerts.yml`])
  promtool(['test', 'rules', 'alerts.rules.yml'], { cwd: fileURLToPath(new URL('.', import.meta.url)) })
})

test('two thousand hostile model names leave a text that both formats can be read from, and a hundred names', async () => {
  const pieces = [
    '"',
    '\\',
    '\n',
    '\r',
    '\0',
    '{',
    '}',
    '# EOF',
    '\u2028',
    '\ud800',
    'é',
    '😀',
    ',outcome:ok',
    '__proto__',
    ' ',
    'x'.repeat(300),
    '\u007f',
    '%',
  ]
  const random = seededRandom(5)
  const name = (at: number): string => {
    const parts = Array.from(
      { length: 1 + Math.floor(random() * 4) },
      () => pieces[Math.floor(random() * pieces.length)],
    )
    return at % 4 === 0 ? parts.join('') : `${parts.join('')}${at}`
  }
  // After a scrape that came too late there is none.
  const before = await until(
    'a scrape',
    async () => only(await prometheus.query('sum(tokenweir_calls_total)')) ?? null,
  )
  const names = Array.from({ length: hostileNames }, (_, at) => name(at))
  await inParallel(names, 16, (model, at) =>
    call({ model, ends: at % 3 === 0 ? 'failing' : 'well', stream: false, input: 1, output: 1 }),
  )
  const atS = await untilScraped(before + hostileNames)
  const labels = await prometheus.query('count by (model) (tokenweir_calls_total)', atS)
  assert.ok(labels.length > 60 && labels.length <= 101, `a hundred at most, and other: ${labels.length}`)
  assert.ok(labels.some(({ labels: { model } }) => model === 'other'))
  assert.ok(labels.every(({ labels: { model = '' } }) => model.length <= 120))
  const text = await (await fetch(`${up.gateway}/metrics`)).text()
  promtool(['check', 'metrics'], { input: text })
  assert.ok(text.length < 2_000_000, String(text.length))
})
