import assert from 'node:assert/strict'
import { test } from 'node:test'
import { splitBytes } from '../support/response-bytes.ts'
import { allWireForms } from './all-wire-forms.ts'
import { testedCodings, zeros } from './content-codings.ts'
import { meterForm, meterFormNow } from './meter-form.ts'
import { type WireForm, bodyForm, done, streamForm } from './wire-form.ts'
import { assertWithin } from '../support/assert-within.ts'

const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
const stream = allWireForms.find(
  ({ name }) => name === 'vLLM, cumulative usage in every chunk, metrics at the end',
)!
const body = allWireForms.find(({ name }) => name === 'chat of OpenAI')!

for (const coding of testedCodings) {
  const headers = ['Content-Encoding', coding.header]

  test(`in ${coding.name}, the first content is seen when its bytes come`, async () => {
    const events = stream.body
      .toString()
      .split(/(?<=\n\n)/)
      .map((event) => Buffer.from(event))
    const { reading } = await meterForm(stream, await coding.encodeEach(events), { headers })
    assert.deepEqual(
      [reading.ttftMs, reading.ttfoMs],
      stream.firstContent!.map((index) => index! + 1),
    )
  })

  test(`a small body in ${coding.name} is read at once: no thread is asked, nobody waits`, () => {
    const encoded = coding.encode(body.body)
    assert.deepEqual(meterFormNow(body, splitBytes(encoded, [100]), { headers }).columns, body.columns)
  })

  test(`a large body in ${coding.name} is read, too`, async () => {
    const vectors = Array.from({ length: 20_000 }, (_, i) => Math.sin(i))
    const answer = {
      data: [{ embedding: vectors }],
      model: 'weir-e',
      usage: { prompt_tokens: 9, total_tokens: 9 },
    }
    const form = bodyForm('vectors', answer, {}, { path: '/v1/embeddings' })
    const { columns } = await meterForm(form, splitBytes(coding.encode(form.body), [16_384]), { headers })
    assert.deepEqual([columns.input_tokens, columns.response_model], [9, 'weir-e'])
  })

  test(`a bomb in ${coding.name} is given up: nothing of it is told, and it holds nobody up`, async (context) => {
    for (const megabytes of [1, 50]) {
      const bomb = await zeros(coding, megabytes)
      assert.ok(bomb.length < megabytes * 2000)
      for (const form of [streamForm('bomb', ''), bodyForm('bomb', '')]) {
        const watch = watchTurns()
        const { columns, reading } = await meterForm(form, splitBytes(bomb, [65_536]), { headers })
        const { longestTurnMs, cpuMs } = watch()
        // The smaller one is read to its end, and is a stream without one.
        const outcome = megabytes === 1 && isStream(form) ? 'upstream_cut' : 'ok'
        assert.deepEqual(
          [columns.usage_source, columns.outcome, columns.response_model],
          ['none', outcome, null],
        )
        assert.equal(reading.responseBytes, bomb.length)
        context.diagnostic(
          `${megabytes} MB: ${cpuMs.toFixed(1)} ms, longest turn ${longestTurnMs.toFixed(1)} ms`,
        )
        // The whole of the greater one would take as long and longer.
        assertWithin(30, longestTurnMs, 'the longest turn')
        assertWithin(200, cpuMs, 'the processor')
      }
    }
  })

  test(`usage that stands behind ever the same words in ${coding.name} is still read`, async () => {
    const long = { choices: [{ index: 0, delta: { content: 'water '.repeat(100) }, finish_reason: null }] }
    const form = streamForm('repeated', [
      ...Array.from({ length: 3000 }, () => long),
      { choices: [], usage },
      done,
    ])
    assert.ok(form.body.length > 1_500_000)
    const encoded = await coding.encodeEach(splitBytes(form.body, [20_000]))
    const { columns } = await meterForm(form, encoded, { headers })
    assert.deepEqual([columns.input_tokens, columns.output_tokens, columns.chunks], [3, 2, 3000])
  })
}

for (const [what, headers] of [
  ['a coding that nobody can undo', ['Content-Encoding', 'compress']],
  ['two codings', ['Content-Encoding', 'gzip, br']],
  ['a coding that is not what it says', ['Content-Encoding', 'zstd']],
] as const) {
  test(`an answer in ${what} is only counted`, async () => {
    for (const form of [stream, body]) {
      const { columns, reading } = await meterForm(form, [form.body], { headers })
      assert.deepEqual(columns, {
        ...onlyCounted(form),
        upstream_request_id: form.columns.upstream_request_id,
      })
      assert.equal(reading.responseBytes, form.body.length)
    }
  })
}

function isStream(form: WireForm): boolean {
  return form.headers.some(([, value]) => value.startsWith('text/event-stream'))
}

function onlyCounted(form: WireForm): WireForm['columns'] {
  return bodyForm('nothing', '', {}, { path: form.path }).columns
}

/** Watches how much this thread works in one turn at most, and the whole process in all, in processor time. */
function watchTurns(): () => { readonly longestTurnMs: number; readonly cpuMs: number } {
  const before = process.cpuUsage()
  let last = ms(process.threadCpuUsage())
  let longestTurnMs = 0
  let watching = true
  const look = (): void => {
    const now = ms(process.threadCpuUsage())
    longestTurnMs = Math.max(longestTurnMs, now - last)
    last = now
    if (watching) setImmediate(look)
  }
  setImmediate(look)
  return () => {
    watching = false
    look()
    return { longestTurnMs, cpuMs: ms(process.cpuUsage(before)) }
  }
}

function ms(used: NodeJS.CpuUsage): number {
  return (used.user + used.system) / 1000
}
