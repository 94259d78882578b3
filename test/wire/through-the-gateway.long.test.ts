import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, test } from 'node:test'
import type { CallJson } from '../../src/call/call-record.ts'
import { exchange } from '../support/exchange.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { complaintsOf } from '../support/gateway-state.ts'
import { inParallel } from '../support/in-parallel.ts'
import { recordedCalls, rowOf } from '../support/recorded-calls.ts'
import { type ReplyStep, cut } from '../support/reply-step.ts'
import { bodyReply, splitBytes } from '../support/response-bytes.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { allWireForms } from './all-wire-forms.ts'
import { testedCodings, zeros } from './content-codings.ts'
import { type WireForm, answerColumns } from './wire-form.ts'

const random = seededRandom(6)

/** How an answer is served. */
const manners: Readonly<Record<string, (form: WireForm) => readonly ReplyStep[]>> = {
  whole: (form) => reply(form, [form.body], 'content-length'),
  'until the connection ends': (form) => reply(form, [form.body], 'until-close'),
  'in single bytes': (form) => reply(form, splitBytes(form.body, [1]), 'chunked'),
  'in random pieces': (form) =>
    reply(
      form,
      splitBytes(
        form.body,
        Array.from({ length: 20 }, () => Math.ceil(random() * 60)),
      ),
      'chunked',
    ),
  'cut in the middle': (form) => [
    ...reply(form, splitBytes(middleOf(form), [17]), 'chunked').slice(0, -1),
    cut(),
  ],
}

function reply(
  { status, headers }: WireForm,
  pieces: readonly Buffer[],
  framing: 'content-length' | 'chunked' | 'until-close',
): ReplyStep[] {
  return bodyReply(pieces, { status, headers, framing })
}

function middleOf(form: WireForm): Buffer {
  return form.body.subarray(0, form.body.length >> 1)
}

const calls = allWireForms.flatMap((form) =>
  Object.keys(manners).map((manner) => ({ form, manner, key: `${form.name}, ${manner}` })),
)

const bombs = await Promise.all(
  testedCodings.map(async (coding) => {
    const body = await zeros(coding, 50)
    const headers = [
      ['Content-Type', 'text/event-stream'],
      ['Content-Encoding', coding.header],
    ] as const
    return { body, steps: bodyReply(splitBytes(body, [30_000]), { headers }) }
  }),
)

const upstream = await startSimulatedUpstream({
  reply: ({ target }) => {
    const bomb = /bomb=(\d+)/.exec(target)
    if (bomb !== null) return bombs[Number(bomb[1])]!.steps
    const { form, manner } = calls[Number(/served=(\d+)/.exec(target)![1])]!
    return manners[manner]!(form)
  },
})
const gateway = await startGatewayProcess({
  upstream: upstream.origin,
  args: ['--max-concurrent', '64'],
  env: { UPSTREAM_API_KEY: undefined },
})
after(async () => {
  await gateway[Symbol.asyncDispose]()
  await upstream.close()
})

function requestFor(form: WireForm, index: number): Parameters<typeof exchange>[3] {
  // Asked for by the client itself, so that nothing is added and nothing taken out.
  const body = JSON.stringify({ model: 'm', stream: true, stream_options: { include_usage: true } })
  const headers = [['x-tokenweir-session', String(index)] as const]
  return form.method === 'GET' ? { headers } : { headers, body }
}

test('every form in every manner: the client gets its very bytes, and the row tells what was in them', async () => {
  const seen = new Map<number, { readonly complete: boolean; readonly body: Buffer }>()
  await inParallel([...calls.entries()], 24, async ([index, { form }]) => {
    const answer = await exchange(
      gateway.port,
      form.method,
      `${form.path}?served=${index}`,
      requestFor(form, index),
    )
    seen.set(index, answer)
    assert.equal(answer.status, form.status)
    for (const [name, value] of form.headers) assert.equal(answer.header(name), value)
  })
  const rows = new Map((await recordedCalls(gateway, calls.length)).map((row) => [Number(row.session), row]))
  for (const [index, { form, manner, key }] of calls.entries()) {
    const isCut = manner === 'cut in the middle'
    const answer = seen.get(index)!
    const row = rows.get(index)!
    const expected = isCut ? middleOf(form) : form.body
    assert.equal(answer.complete, !isCut, key)
    assert.ok(answer.body.equals(expected), key)
    assert.equal(row.response_bytes, expected.length, key)
    if (isCut) assertCut(form, row, key)
    else assert.deepEqual(answerColumns(row), form.columns, key)
  }
  assert.equal(complaintsOf(gateway), '')
})

test('bombs pass as they are, and cost neither memory nor the calls beside them', async (context) => {
  const before = await peakMemoryMb()
  const copies = Array.from({ length: 4 }, () => [...bombs.entries()]).flat()
  const ordinary = [...calls.entries()].filter(([, { manner }]) => manner === 'whole')
  await Promise.all([
    inParallel(copies, 8, async ([index, { body }]) => {
      const answer = await exchange(gateway.port, 'POST', `/v1/chat/completions?bomb=${index}`, {
        body: '{}',
      })
      assert.ok(answer.complete && answer.body.equals(body))
      const row = await rowOf(gateway, answer)
      assert.deepEqual([row.outcome, row.usage_source, row.chunks], ['ok', 'none', null])
    }),
    inParallel(ordinary, 8, async ([index, { form, key }]) => {
      const answer = await exchange(
        gateway.port,
        form.method,
        `${form.path}?served=${index}`,
        requestFor(form, index),
      )
      assert.deepEqual(answerColumns(await rowOf(gateway, answer)), form.columns, key)
    }),
  ])
  // Unpacked they are 1.4 GB; what may be decoded of eight at once, with their windows, is a fraction.
  const after = await peakMemoryMb()
  if (before === null || after === null) context.diagnostic('this system tells no peak of memory')
  else assert.ok(after - before < 300, `${after - before} MB more at the peak`)
})

/** Null where the system, unlike Linux, does not tell it. */
async function peakMemoryMb(): Promise<number | null> {
  if (process.platform !== 'linux') return null
  const status = await readFile(`/proc/${gateway.pid}/status`, 'utf8')
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024
}

function assertCut(form: WireForm, row: CallJson, key: string): void {
  assert.ok(row.failed, key)
  if (row.failure_code === 'stream_error') assert.equal(form.columns.failure_code, 'stream_error', key)
  else assert.deepEqual([row.outcome, row.failure_code], ['upstream_cut', 'upstream_reset'], key)
  const counts = [[form.columns.input_tokens, form.columns.output_tokens], ...form.earlier, [null, null]]
  const known = counts.some(([input, output]) => input === row.input_tokens && output === row.output_tokens)
  assert.ok(known, `${key}: ${row.input_tokens}, ${row.output_tokens}`)
}
