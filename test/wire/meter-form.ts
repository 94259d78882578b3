import { Failure } from '../../src/call/failure.ts'
import { type CallRecord, blankRecord } from '../../src/call/call-record.ts'
import { namedFields } from '../../src/call/fields/call-fields.ts'
import { CallMeter } from '../../src/gateway/meter/call-meter.ts'
import { CallTimeline, completeRecord } from '../../src/gateway/recorder/recorder.ts'
import { pathMeaning } from '../../src/gateway/http/path-meaning.ts'
import { parseUpstreamBase } from '../../src/gateway/http/target.ts'
import { type AnswerColumns, type WireForm, answerColumns } from './wire-form.ts'

/** What became of an answer that was shown to the meter. */
export interface MeteredForm {
  readonly columns: AnswerColumns
  readonly reading: CallRecord
}

export interface MeterOptions {
  /** The upstream breaks off after the pieces. */
  readonly cut?: boolean
  /** Further headers, as `Content-Encoding`. */
  readonly headers?: readonly string[]
}

const base = parseUpstreamBase('http://127.0.0.1:8080')
/** Of a call whose one attempt went out as it came. */
const timeline = new CallTimeline(0)
timeline.attempt(0)

/**
 * Shows an answer to the meter in these pieces, the first at 1 ms, each one millisecond after the one before,
 * and makes the row of it. The pieces are wiped behind the meter's back, as the network does with its buffers.
 */
export async function meterForm(
  form: WireForm,
  pieces: readonly Uint8Array[],
  options: MeterOptions = {},
): Promise<MeteredForm> {
  const meter = showForm(form, pieces, options)
  await meter.settled()
  return settledForm(form, meter, options)
}

/** As {@link meterForm}, for answers that nobody has to wait for. */
export function meterFormNow(
  form: WireForm,
  pieces: readonly Uint8Array[],
  options: MeterOptions = {},
): MeteredForm {
  const meter = showForm(form, pieces, options)
  if (meter.settled() !== null) throw new Error('the reading is not final yet')
  return settledForm(form, meter, options)
}

function showForm(form: WireForm, pieces: readonly Uint8Array[], options: MeterOptions): CallMeter {
  const { callType } = pathMeaning(base, { path: form.path, query: '' }, form.method)
  const meter = new CallMeter({ callType, method: form.method }, true, 0, (error) => {
    throw error
  })
  const headers = [...form.headers.flat(), ...(options.headers ?? [])]
  meter.responseStart({ status: form.status, statusText: '', contentLength: null, headers })
  let atMs = 0
  for (const piece of pieces) {
    const copy = Buffer.from(piece)
    meter.data(copy, ++atMs)
    copy.fill(0x22)
  }
  meter.end(options.cut !== true)
  return meter
}

const reset = new Failure('upstream_reset', 'said by a test')

function settledForm(form: WireForm, meter: CallMeter, options: MeterOptions): MeteredForm {
  const record = blankRecord()
  record.callType = pathMeaning(base, { path: form.path, query: '' }, form.method).callType
  meter.complete(record)
  const failure = options.cut === true ? reset : null
  const { answerEnding: ending, isImplausible } = meter
  const end = { status: form.status, failure, gone: null, ending, isImplausible }
  const asIs = (text: string): string => text
  completeRecord(record, timeline, end, asIs, { masked: asIs })
  return { columns: columnsOf(record), reading: record }
}

function columnsOf(record: CallRecord): AnswerColumns {
  const known = namedFields.map(({ name, record: field }) => [name, record[field as keyof CallRecord]])
  const cost_usd = record.costNanoUsd === null ? null : record.costNanoUsd / 1e9
  return answerColumns({ ...Object.fromEntries(known), cost_usd })
}
