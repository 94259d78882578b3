import type { ComponentChildren } from 'preact'
import type { CallJson } from '../../src/call/call-record.ts'
import type { CallSort } from '../../src/call/call-reader.ts'
import { callTypeWords } from '../data/call-words.ts'
import {
  bytes,
  count,
  counted,
  dollars,
  duration,
  known,
  speed,
  unknownFigure,
  wait,
} from '../format/figures.ts'
import { CallTag } from '../call/call-tag.tsx'
import type { ColumnName } from './chosen-columns.ts'
import { noUsageWords } from '../call/no-usage-words.ts'
import { Waterfall } from '../call/waterfall.tsx'

export interface CallColumn {
  readonly words: string
  /** Where `words` are too short for those who read them for the first time. */
  readonly title?: string
  /** Figures stand at the right. */
  readonly isFigure?: true
  /** What the list is sorted by when its head is pressed. */
  readonly sort?: CallSort
  readonly cell: (call: CallJson, scaleMs: number) => ComponentChildren
}

/** What the columns say. The time is the row's link, and made where the row is. */
export const callColumns: Readonly<Record<ColumnName, CallColumn>> = {
  time: { words: 'Time', title: 'When the request arrived', sort: 'started_at', cell: () => null },
  model: { words: 'Model', cell: ({ model }) => model ?? <span class="quiet">{unknownFigure}</span> },
  type: { words: 'Type', cell: ({ call_type: type }) => <span class="quiet">{callTypeWords[type]}</span> },
  status: { words: 'Status', cell: (call) => <CallTag call={call} /> },
  client: { words: 'Client', cell: ({ client }) => <span class="quiet">{client ?? unknownFigure}</span> },
  attempts: {
    words: 'Attempts',
    title: 'Attempts at the upstream: more than one where the gateway tried again',
    isFigure: true,
    cell: ({ attempts }) =>
      attempts > 1 ? <strong>{attempts}</strong> : <span class="quiet">{attempts}</span>,
  },
  input: {
    words: 'In',
    title: 'Input tokens',
    isFigure: true,
    cell: ({ input_tokens: tokens }) => known(tokens, count),
  },
  output: {
    words: 'Out',
    title: 'Output tokens',
    isFigure: true,
    cell: (call) =>
      call.output_tokens === null && call.usage_source === 'none' && (call.chunks ?? 0) > 0 ? (
        <span class="quiet" title={noUsageWords(call)}>
          {counted(call.chunks ?? 0, 'chunk')}
        </span>
      ) : (
        known(call.output_tokens, count)
      ),
  },
  cached: {
    words: 'Cached',
    title: 'Input tokens that the upstream had cached',
    isFigure: true,
    cell: ({ cached_input_tokens: tokens }) => known(tokens, count),
  },
  bytes: {
    words: 'Bytes',
    title: 'Bytes of the request and of the answer',
    isFigure: true,
    cell: ({ request_bytes: sent, response_bytes: received }) => `${bytes(sent)} → ${bytes(received)}`,
  },
  cost: { words: 'Cost', isFigure: true, sort: 'cost', cell: ({ cost_usd: cost }) => known(cost, dollars) },
  queue: {
    words: 'Queue',
    title: 'Waited for a slot',
    isFigure: true,
    cell: ({ queue_ms: ms }) =>
      ms !== null && ms >= 1 ? wait(ms) : <span class="quiet">{known(ms, wait)}</span>,
  },
  first: {
    words: 'First token',
    title: 'From when the attempt was sent to its first token; waits are not in it',
    isFigure: true,
    sort: 'ttft',
    cell: ({ ttft_ms: ms }) => known(ms, duration),
  },
  speed: {
    words: 'Tok/s',
    title: 'Output tokens per second while it streamed',
    isFigure: true,
    cell: ({ output_tokens_per_s: perS }) => known(perS, speed),
  },
  total: {
    words: 'Total',
    title: 'From the arrival of the request to the last byte of its answer',
    isFigure: true,
    sort: 'duration',
    cell: ({ duration_ms: ms }) => <strong>{known(ms, duration)}</strong>,
  },
  timing: {
    words: 'Timing',
    title: 'The parts of each call, all on the same scale',
    cell: (call, scaleMs) => <Waterfall call={call} scaleMs={scaleMs} />,
  },
}
