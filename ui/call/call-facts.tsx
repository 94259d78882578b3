import type { SingleCall } from '../../src/api/single-call.ts'
import type { CallJson } from '../../src/call/call-record.ts'
import { callTypeWords } from '../data/call-text.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import { failureCodeWords } from '../data/failure-text.ts'
import { AddressLink, useNavigation } from '../data/navigation.tsx'
import { sessionAddress } from '../data/changed-address.ts'
import { type PageAddress, defaultAddress } from '../data/page-address.ts'
import { type Range, boundsOf } from '../data/page-range.ts'
import { rateWords } from '../data/price-source.ts'
import { CopyButton } from '../design/copy-button.tsx'
import { type Fact, DescriptionList } from '../design/description-list.tsx'
import { bytes, count, counted, duration, orDash, speed, unknownFigure, pair } from '../format/figures.ts'
import { noUsageWords } from './call-text.ts'

/** The facts of a call except its times: stream, tokens, cost, request and upstream. */
export function CallFacts({ call }: { readonly call: SingleCall }) {
  const { utc } = useNavigation().address
  const { cache_write_tokens: cacheWrites, reasoning_tokens: reasoning, client_retry: retries } = call
  const { response_model: responseModel, upstream_request_id: requestId, trace_id: trace, session } = call
  const { model, client, failure_code: code, source } = call
  const startedMs = Date.parse(call.started_at)
  const month = { ...defaultAddress, view: 'calls', range: monthAround(startedMs), utc } as const
  /** Returns a link to other calls, by default those in the month around this one. */
  const calls = (words: string, to: Partial<PageAddress>) => (
    <AddressLink key={words} class="text-link" to={{ ...month, ...to }}>
      {words}
    </AddressLink>
  )
  const tags = call.tags?.split(',') ?? []
  const { input_tokens_per_s: promptSpeed, output_tokens_per_s: speedOut } = call
  const reported = [
    ['queue', call.upstream_queue_ms],
    ['prompt', call.upstream_prompt_ms],
    ['generation', call.upstream_decode_ms],
  ] as const
  const timings = reported.flatMap(([words, ms]) => (ms === null ? [] : [`${words} ${duration(ms)}`]))
  const costs = costFacts(call)
  const isStreamed = (call.chunks ?? 0) > 0
  const parts: Readonly<Record<string, readonly Fact[]>> = {
    ...(isStreamed && {
      Streaming: [
        ['Content chunks', orDash(call.chunks, count)],
        [
          'Time between chunks',
          `median ${orDash(call.gap_p50_ms, duration)}, 95% within ${orDash(call.gap_p95_ms, duration)}`,
        ],
        ['Longest pause', orDash(call.gap_max_ms, duration)],
        ['Pauses over 1 s', orDash(call.stalls, count)],
      ],
    }),
    Tokens:
      call.usage_source === 'none'
        ? [['Usage', noUsageWords(call)]]
        : [
            ['Input', orDash(call.input_tokens, count)],
            ['Cached input', orDash(call.cached_input_tokens, count)],
            ['Cache write', cacheWrites === 0 ? null : counts(cacheWrites)],
            ['Audio input', counts(call.input_audio_tokens)],
            ['Output', call.output_tokens === null ? noUsageWords(call) : count(call.output_tokens)],
            ['Reasoning', reasoning === 0 ? null : counts(reasoning)],
            ['Audio output', counts(call.output_audio_tokens)],
            ['Search units', counts(call.search_units)],
            ['Audio length', call.audio_ms === null ? null : duration(call.audio_ms)],
            ['Tool images', call.image_tokens === 0 ? null : counts(call.image_tokens)],
            ['Reported by', call.usage_source === 'timings' ? 'the upstream’s timings' : null],
          ],
    ...(costs.length > 0 && { Cost: costs }),
    Request: [
      ['Endpoint', `${call.method} ${call.endpoint}`],
      ['Type', `${callTypeWords[call.call_type]}${call.stream ? ', streamed' : ', not streamed'}`],
      ['Client', call.client ?? unknownFigure],
      ['User agent', call.user_agent],
      ['Key fingerprint', call.key_fingerprint],
      [
        'Session',
        session === null ? null : (
          <>
            {calls(session, { ...sessionAddress(session), utc })}
            {call.session_source !== null && <span class="quiet"> by {call.session_source}</span>}
          </>
        ),
      ],
      ['Imported from', source === null ? null : calls(source, { source })],
      [
        'Tags',
        tags.length === 0 ? null : (
          <span class="panel-links row wraps">{tags.map((tag) => calls(tag, { tags: [tag] }))}</span>
        ),
      ],
      ['Trace', trace === null ? null : <Copied text={trace} what="the trace ID" />],
      ['Client attempts', retries !== null && retries > 0 ? counted(retries + 1, 'time') : null],
      ['Sent', bytes(call.request_bytes)],
      ['Received', bytes(call.response_bytes)],
    ],
    Upstream: [
      ['Name', call.upstream_name],
      ['Host', call.upstream ?? unknownFigure],
      ['Attempts', count(call.attempts)],
      ['Responding model', responseModel === call.model ? null : responseModel],
      ['Provider limit hit', call.met_limit?.replace('_', ' ') ?? null],
      ['Finish reason', call.finish_reason],
      ['Tool calls', toolWords(call)],
      ['Service tier', call.service_tier],
      ['Upstream timings', timings.length === 0 ? null : timings.join(', ')],
      ['Speed in / out', promptSpeed === null ? null : `${pair(promptSpeed, speedOut, speed)} tokens/s`],
      [
        'Request ID',
        requestId === null ? null : <Copied text={requestId} what="the upstream’s request ID" />,
      ],
      ['Gateway instance', call.instance],
    ],
  }
  return (
    <>
      {Object.entries(parts).map(([title, facts]) => (
        <section key={title}>
          <h3>{title}</h3>
          <DescriptionList class="panel-list" facts={facts} />
        </section>
      ))}
      <section>
        <h3>Other calls</h3>
        <div class="panel-links row wraps">
          {calls('within 5 minutes', {
            range: { last: null, fromMs: startedMs - 5 * minuteMs, toMs: startedMs + 5 * minuteMs },
          })}
          {model !== null && calls(`for ${model}`, { models: [model] })}
          {client !== null && calls(`from ${client}`, { clients: [client] })}
          {code !== null && calls(`with “${failureCodeWords(code)}”`, { failureCodes: [code] })}
          {session !== null && calls('in this session', { session })}
          {trace !== null && calls('in this trace', { q: trace })}
        </div>
      </section>
    </>
  )
}

/** A text that can be copied. */
function Copied({ text, what }: { readonly text: string; readonly what: string }) {
  return (
    <>
      <code>{text}</code> <CopyButton text={text} what={what} />
    </>
  )
}

/** Returns the parts of the cost with all digits, or the reason that they are unknown. */
function costFacts({ cost_usd: cost, cost_parts: parts, price_source: source }: SingleCall): readonly Fact[] {
  if (cost === null || parts?.length === 0) return []
  if (parts === null) {
    const why = source === 'upstream' ? 'the upstream reported the cost' : 'its price has changed since'
    return [['Parts', `Unknown: ${why}`]]
  }
  const digits = Math.max(
    ...parts.map(({ usd }) => usd.toFixed(9).replace(/0+$/, '').split('.')[1]?.length ?? 0),
  )
  const exact = (usd: number): string => `$${usd.toFixed(Math.max(2, digits))}`
  return [
    ...parts.map(({ rate, count: billed, usd }): Fact => {
      const amount = rate === 'per_second' ? duration(billed) : count(billed)
      return [rateWords[rate], rate === 'per_request' ? exact(usd) : `${exact(usd)} for ${amount}`]
    }),
    ['Total', exact(cost)],
  ]
}

const minuteMs = 60_000
const fortnightMs = 14 * 24 * 60 * minuteMs

/** Returns four weeks around a call, or the default range if the call is in it. */
function monthAround(startedMs: number): Range {
  const { fromMs } = boundsOf(defaultAddress, nowMs())
  if (startedMs >= fromMs) return defaultAddress.range
  return { last: null, fromMs: startedMs - fortnightMs, toMs: startedMs + fortnightMs }
}

/** Returns the tools' names, with the number of calls if a tool was called twice; null without tool calls. */
function toolWords({ tools, tool_calls: calls }: CallJson): string | null {
  if (calls === null || calls === 0) return null
  const names = tools?.split(',') ?? []
  return names.length === calls ? names.join(', ') : `${names.join(', ')} (${counted(calls, 'call')})`
}

function counts(value: number | null): string | null {
  return value === null ? null : count(value)
}
