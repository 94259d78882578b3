import type { SingleCall } from '../../src/api/single-call.ts'
import type { CostPart } from '../../src/api/costs.ts'
import type { CallJson } from '../../src/call/call-record.ts'
import { callTypeWords } from '../data/call-text.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import { failureCodeWords } from '../data/failure-text.ts'
import { AddressLink, useNavigation } from '../data/navigation.tsx'
import { sessionAddress } from '../data/changed-address.ts'
import { type PageAddress, defaultAddress } from '../data/page-address.ts'
import { type Range, boundsOf } from '../data/page-range.ts'
import { CopyButton } from '../design/copy-button.tsx'
import { type Fact, DescriptionList } from '../design/description-list.tsx'
import { bytes, count, counted, duration, orDash, speed, unknownFigure } from '../format/figures.ts'
import { noUsageWords } from './call-text.ts'

/** The facts of a call except its times: stream, tokens, cost, request and upstream. */
export function CallFacts({ call }: { readonly call: SingleCall }) {
  const { cache_write_tokens: cacheWrites, reasoning_tokens: reasoning, client_retry: retries } = call
  const { response_model: responseModel, upstream_request_id: requestId, trace_id: trace, session } = call
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
      ['Session', session === null ? null : <SessionLink session={session} source={call.session_source} />],
      [
        'Imported from',
        call.source === null ? null : <SourceLink source={call.source} startedAt={call.started_at} />,
      ],
      ['Tags', tags.length === 0 ? null : <TagLinks tags={tags} startedAt={call.started_at} />],
      [
        'Trace',
        trace === null ? null : (
          <>
            <code>{trace}</code> <CopyButton text={trace} what="the trace ID" />
          </>
        ),
      ],
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
      [
        'Prompt, output speed',
        promptSpeed === null ? null : `${speed(promptSpeed)} , ${orDash(speedOut, speed)} tokens/s`,
      ],
      [
        'Request ID',
        requestId === null ? null : (
          <>
            <code>{requestId}</code> <CopyButton text={requestId} what="the upstream’s request ID" />
          </>
        ),
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
      <RelatedCalls call={call} />
    </>
  )
}

const rateWords: Readonly<Record<CostPart['rate'], string>> = {
  input: 'Input',
  cache_read: 'Cached input',
  cache_write: 'Cache write',
  cache_write_1h: 'Cache write, 1 hour',
  input_audio: 'Audio input',
  output: 'Output',
  reasoning: 'Reasoning',
  output_audio: 'Audio output',
  image: 'Tool images',
  per_request: 'Per request',
  per_search_unit: 'Search units',
  per_second: 'Seconds of audio',
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

/** A link to the session, and the source of its name. */
function SessionLink({ session, source }: { readonly session: string; readonly source: string | null }) {
  const { utc } = useNavigation().address
  return (
    <>
      <AddressLink class="text-link" to={{ ...sessionAddress(session), utc }}>
        {session}
      </AddressLink>
      {source !== null && <span class="quiet"> by {source}</span>}
    </>
  )
}

/** A link to the calls that were imported from the same source in the month around the call. */
function SourceLink({ source, startedAt }: { readonly source: string; readonly startedAt: string }) {
  const { utc } = useNavigation().address
  return (
    <AddressLink
      class="text-link"
      to={{ ...defaultAddress, view: 'calls', range: monthOf(startedAt), source, utc }}
    >
      {source}
    </AddressLink>
  )
}

/** Returns four weeks around a call, or the default range if the call is in it. */
function monthOf(startedAt: string): Range {
  const startedMs = Date.parse(startedAt)
  const { fromMs } = boundsOf(defaultAddress, nowMs())
  if (startedMs >= fromMs) return defaultAddress.range
  return { last: null, fromMs: startedMs - fortnightMs, toMs: startedMs + fortnightMs }
}

/** Links to the calls with each tag in the month around the call. */
function TagLinks({ tags, startedAt }: { readonly tags: readonly string[]; readonly startedAt: string }) {
  const { utc } = useNavigation().address
  return (
    <span class="panel-links row wraps">
      {tags.map((tag) => (
        <AddressLink
          key={tag}
          class="text-link"
          to={{ ...defaultAddress, view: 'calls', range: monthOf(startedAt), tags: [tag], utc }}
        >
          {tag}
        </AddressLink>
      ))}
    </span>
  )
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

const minuteMs = 60_000
const fortnightMs = 14 * 24 * 60 * minuteMs

/** Links to calls with the same model, client, failure, session or trace, and to calls at the same time. */
function RelatedCalls({ call }: { readonly call: CallJson }) {
  const { utc } = useNavigation().address
  const { model, client, failure_code: code, session, trace_id: trace } = call
  const startedMs = Date.parse(call.started_at)
  const monthAddress = { ...defaultAddress, range: monthOf(call.started_at), utc }
  const around = { last: null, fromMs: startedMs - 5 * minuteMs, toMs: startedMs + 5 * minuteMs } as const
  const links: readonly (false | readonly [string, PageAddress])[] = [
    ['within 5 minutes', { ...monthAddress, range: around }],
    model !== null && [`for ${model}`, { ...monthAddress, models: [model] }],
    client !== null && [`from ${client}`, { ...monthAddress, clients: [client] }],
    code !== null && [`with “${failureCodeWords(code)}”`, { ...monthAddress, failureCodes: [code] }],
    session !== null && ['in this session', { ...monthAddress, session }],
    trace !== null && ['in this trace', { ...monthAddress, q: trace }],
  ]
  return (
    <section>
      <h3>Other calls</h3>
      <div class="panel-links row wraps">
        {links.map(
          (link) =>
            link !== false && (
              <AddressLink key={link[0]} class="text-link" to={{ ...link[1], view: 'calls' }}>
                {link[0]}
              </AddressLink>
            ),
        )}
      </div>
    </section>
  )
}
