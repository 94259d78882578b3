import type { ComponentChildren, JSX } from 'preact'
import type { CallJson } from '../../src/call/call-record.ts'
import { AddressLink } from '../data/navigation.tsx'
import { type PageAddress, plainAddress } from '../data/page-address.ts'
import { callTypeWords } from '../data/call-words.ts'
import { CopyButton } from '../design/copy-button.tsx'
import { bytes, count, counted, duration, known, unknownFigure } from '../format/figures.ts'
import { failureCodeWords } from '../data/failure-words.ts'
import { noUsageWords } from './no-usage-words.ts'

export interface CallFactsProps {
  readonly call: CallJson
  readonly utc: boolean
}

type Row = readonly [words: string, value: ComponentChildren]

/** All that is known of a call beyond its times: how it streamed, its tokens, what the upstream said, who asked. */
export function CallFacts({ call, utc }: CallFactsProps): JSX.Element {
  return (
    <>
      {call.chunks !== null && call.chunks > 0 && <Facts title="Pace of the stream" rows={paceRows(call)} />}
      <Facts title="Tokens" rows={tokenRows(call)} />
      <Facts title="Request" rows={requestRows(call)} />
      <Facts title="Upstream" rows={upstreamRows(call)} />
      <AlikeLinks call={call} utc={utc} />
    </>
  )
}

function Facts({ title, rows }: { readonly title: string; readonly rows: readonly Row[] }): JSX.Element {
  return (
    <section>
      <h3>{title}</h3>
      <dl class="panel-list">
        {rows.map(([words, value]) => (
          <div key={words}>
            <dt>{words}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

function paceRows(call: CallJson): readonly Row[] {
  return [
    ['Pieces with content', known(call.chunks, count)],
    [
      'Time between them',
      `median ${known(call.gap_p50_ms, duration)}, 95 % within ${known(call.gap_p95_ms, duration)}`,
    ],
    ['Longest pause', known(call.gap_max_ms, duration)],
    ['Pauses over 1 s', known(call.stalls, count)],
  ]
}

function tokenRows(call: CallJson): readonly Row[] {
  if (call.usage_source === 'none') return [['Usage', noUsageWords(call)]]
  const { cache_write_tokens: written, reasoning_tokens: reasoning } = call
  return [
    ['Input', known(call.input_tokens, count)],
    ['of that, cached', known(call.cached_input_tokens, count)],
    ...optional('of that, written to the cache', written === 0 ? null : written, count),
    ...optional('of that, audio', call.input_audio_tokens, count),
    ['Output', call.output_tokens === null ? noUsageWords(call) : count(call.output_tokens)],
    ...optional('of that, reasoning', reasoning === 0 ? null : reasoning, count),
    ...optional('of that, audio ', call.output_audio_tokens, count),
    ...optional('Search units', call.search_units, count),
    ...(call.usage_source === 'timings' ? ([['Told by', 'the upstream’s timings']] as const) : []),
  ]
}

function requestRows(call: CallJson): readonly Row[] {
  const { client_retry: retry } = call
  return [
    ['Endpoint', `${call.method} ${call.endpoint}`],
    ['Type', `${callTypeWords[call.call_type]}${call.stream ? ', streamed' : ', not streamed'}`],
    ['Client', call.client ?? unknownFigure],
    ...named('User agent', call.user_agent),
    ...named('Key fingerprint', call.key_fingerprint),
    ...named('Session', call.session),
    ...(retry !== null && retry > 0 ? ([['Tried by the client', counted(retry + 1, 'time')]] as const) : []),
    ['Sent', bytes(call.request_bytes)],
    ['Received', bytes(call.response_bytes)],
  ]
}

function upstreamRows(call: CallJson): readonly Row[] {
  const { response_model: answered, upstream_request_id: requestId } = call
  const reported = [
    ['queue', call.upstream_queue_ms],
    ['prompt', call.upstream_prompt_ms],
    ['generation', call.upstream_decode_ms],
  ] as const
  const told = reported.flatMap(([words, ms]) => (ms === null ? [] : [`${words} ${duration(ms)}`]))
  return [
    ['Host', call.upstream ?? unknownFigure],
    ['Attempts', count(call.attempts)],
    ...(answered !== call.model ? named('Answered by', answered) : []),
    ...named('Finish reason', call.finish_reason),
    ...named('Service tier', call.service_tier),
    ...(told.length > 0 ? ([['Its own timings', told.join(', ')]] as const) : []),
    ...(requestId === null
      ? []
      : ([
          [
            'Request id',
            <>
              <code>{requestId}</code> <CopyButton text={requestId} what="the upstream’s request id" />
            </>,
          ],
        ] as const)),
    ['Through gateway', call.instance],
  ]
}

function optional(words: string, value: number | null, show: (value: number) => string): readonly Row[] {
  return value === null ? [] : [[words, show(value)]]
}

function named(words: string, value: string | null): readonly Row[] {
  return value === null ? [] : [[words, value]]
}

const minuteMs = 60_000

/** Leads to calls that have something in common with this one. */
function AlikeLinks({ call, utc }: CallFactsProps): JSX.Element {
  const { model, client, failure_code: code } = call
  const startedMs = Date.parse(call.started_at)
  const rest = { ...plainAddress, utc }
  const around = { last: null, fromMs: startedMs - 5 * minuteMs, toMs: startedMs + 5 * minuteMs } as const
  const links: readonly (readonly [string, Partial<PageAddress>])[] = [
    ['within five minutes', { ...rest, range: around }],
    ...(model === null ? [] : [[`of ${model}`, { ...rest, models: [model] }] as const]),
    ...(client === null ? [] : [[`of ${client}`, { ...rest, clients: [client] }] as const]),
    ...(code === null
      ? []
      : [[`with “${failureCodeWords(code)}”`, { ...rest, failureCodes: [code] }] as const]),
  ]
  return (
    <section>
      <h3>Other calls</h3>
      <div class="panel-links">
        {links.map(([words, to]) => (
          <AddressLink key={words} class="text-link" to={{ ...to, view: 'calls', call: null }}>
            {words}
          </AddressLink>
        ))}
      </div>
    </section>
  )
}
