import type { CallDraft, CallRecord } from '../../call/call-record.ts'
import type { CallType } from '../../call/call.ts'
import { mostCostNanoUsd, mostTokens } from '../../call/fields/plausible-amounts.ts'
import { type Fields, fields, noFields } from '../../lib/message-shape.ts'
import { compactionsIn, withCompactions } from './compactions.ts'

/** Parsed objects of an answer that hold figures; `undefined` or `null` for missing ones. */
export interface UsagePieces {
  /** The newest of `usage`, `x_groq.usage` and `response.usage` that counts any token. */
  readonly usage?: unknown
  /** Anthropic's `message_start` → `message.usage`, which later events only amend. */
  readonly startUsage?: unknown
  /** llama.cpp's `timings`. */
  readonly timings?: unknown
  /** vLLM's `metrics`. */
  readonly metrics?: unknown
  /** Cerebras's `time_info`. */
  readonly timeInfo?: unknown
  /** Cohere's `meta`. */
  readonly meta?: unknown
  /** The usage of tools of the Responses API. */
  readonly toolUsage?: unknown
  /** A cost in dollars beside the usage (OpenCode's service). */
  readonly cost?: unknown
}

/** The counts of an answer that reports none. */
export const noCounts = {
  inputTokens: null,
  outputTokens: null,
  cachedInputTokens: null,
  cacheWriteTokens: null,
  cacheWrite1hTokens: null,
  inputAudioTokens: null,
  outputAudioTokens: null,
  reasoningTokens: null,
  totalTokens: null,
  usageSource: 'none',
} as const

/**
 * Normalised token counts. Cached input, cache writes and input audio are parts of the input; reasoning and
 * output audio are parts of the output. The output is `null` if the stream broke off before it was reported.
 */
type Counts = Pick<CallRecord, keyof typeof noCounts>

/** All numbers that upstreams report beside their answers, Anthropic's tier or speed, and the output that no content shows. */
export type ReportedFigures = Counts &
  Pick<
    CallRecord,
    | 'costNanoUsd'
    | 'searchUnits'
    | 'audioMs'
    | 'imageTokens'
    | 'upstreamQueueMs'
    | 'upstreamPromptMs'
    | 'upstreamDecodeMs'
    | 'tpotMs'
    | 'serviceTier'
  > & { readonly hiddenTokens: number }

const largestMs = 1e9
export const nanoPerUsd = 1e9
/** xAI counts cost in ticks, of which 1e10 make a dollar. */
export const ticksPerNanoUsd = 10
/** Most characters of a service tier. */
const longestTier = 100
/** Most output tokens of an answer. A larger difference between a total and its parts is no output. */
const longestOutput = 131_072

/** The facts of a call whose figures are read. */
export interface AskedCall {
  readonly callType: CallType
  /** Most output tokens that the call allows; 0 without a bound. */
  readonly tokensAsked?: number
  /** The number of choices in a body, of which llama.cpp reports only the first. */
  readonly bodyChoices?: number
}

/** Reads the figures in the pieces. An unknown shape gives `null`, never a guess. */
export function readFigures(pieces: UsagePieces, call: AskedCall): ReportedFigures {
  const { bodyChoices = 0 } = call
  const merged = mergedUsage(pieces)
  const timings = fields(pieces.timings)
  const metrics = fields(pieces.metrics)
  const timeInfo = fields(pieces.timeInfo)
  const isOfFirst = bodyChoices > 1 && coversOneChoice(merged, timings)
  const usage = isOfFirst ? noFields : withCompactions(merged)
  const mayLackOutput = pieces.usage === undefined && pieces.startUsage !== undefined
  const ofTimings = bodyChoices > 1 ? null : fromTimings(timings)
  const counts = isOfFirst ? null : (fromUsage(usage, timings, call, mayLackOutput) ?? ofTimings)
  const upstreamDecodeMs =
    milliseconds(usage['completion_time'], 1000) ??
    milliseconds(timeInfo['completion_time'], 1000) ??
    milliseconds(metrics['generation_time_ms'], 1) ??
    milliseconds(timings['predicted_ms'], 1)
  const decoded = count(timings['predicted_n']) ?? counts?.outputTokens ?? 0
  // Audio of a transcription that is billed by the second, or of a prompt (Mistral).
  const audioMs = milliseconds(usage['seconds'] ?? usage['prompt_audio_seconds'], 1000)
  return {
    ...(counts ?? { ...noCounts, usageSource: audioMs === null ? 'none' : 'usage' }),
    costNanoUsd: reportedCost(usage, pieces.cost),
    searchUnits: count(fields(fields(pieces.meta)['billed_units'])['search_units']),
    audioMs,
    imageTokens: imageTokens(fields(fields(pieces.toolUsage)['image_gen'])),
    upstreamQueueMs:
      milliseconds(usage['queue_time'], 1000) ??
      milliseconds(timeInfo['queue_time'], 1000) ??
      milliseconds(metrics['queue_time_ms'], 1),
    upstreamPromptMs:
      milliseconds(usage['prompt_time'], 1000) ??
      milliseconds(timeInfo['prompt_time'], 1000) ??
      // vLLM counts from the slot, not from the arrival.
      milliseconds(metrics['time_to_first_token_ms'], 1) ??
      (isOfWholePrompt(timings, counts) ? milliseconds(timings['prompt_ms'], 1) : null),
    upstreamDecodeMs,
    tpotMs: upstreamDecodeMs === null || decoded < 2 ? null : upstreamDecodeMs / (decoded - 1),
    serviceTier: usage['speed'] === 'fast' ? 'fast' : tier(usage['service_tier']),
    hiddenTokens: compactionsIn(usage).reduce((all, each) => all + (count(each['output_tokens']) ?? 0), 0),
  }
}

/** The result for an answer without usage, or whose usage does not count. */
export const noFigures: ReportedFigures = readFigures({}, { callType: 'other' })

/** Writes figures into a record, field by field, because `Object.assign` takes ten times as long. */
export function noteFigures(record: CallDraft, figures: ReportedFigures): void {
  record.inputTokens = figures.inputTokens
  record.outputTokens = figures.outputTokens
  record.cachedInputTokens = figures.cachedInputTokens
  record.cacheWriteTokens = figures.cacheWriteTokens
  record.cacheWrite1hTokens = figures.cacheWrite1hTokens
  record.inputAudioTokens = figures.inputAudioTokens
  record.outputAudioTokens = figures.outputAudioTokens
  record.reasoningTokens = figures.reasoningTokens
  record.totalTokens = figures.totalTokens
  record.usageSource = figures.usageSource
  record.costNanoUsd = figures.costNanoUsd
  record.searchUnits = figures.searchUnits
  record.audioMs = figures.audioMs
  record.imageTokens = figures.imageTokens
  record.upstreamQueueMs = figures.upstreamQueueMs
  record.upstreamPromptMs = figures.upstreamPromptMs
  record.upstreamDecodeMs = figures.upstreamDecodeMs
  record.tpotMs = figures.tpotMs
  record.serviceTier = figures.serviceTier
}

/**
 * Adds the figures of choices that were reported one by one. Choices are decoded in parallel, so the longest
 * time counts. If all report the same input, that is their common prompt, and counts once.
 */
export function addChoices(choices: readonly ReportedFigures[]): ReportedFigures {
  const [first = noFigures] = choices
  if (choices.length < 2) return first
  /** The sum of a figure; `null` unless all choices report it. */
  const sum = (name: keyof ReportedFigures): number | null =>
    choices.reduce<number | null>((all, choice) => {
      const value = choice[name]
      return all === null || typeof value !== 'number' ? null : all + value
    }, 0)
  const decodeMs = Math.max(...choices.map((choice) => choice.upstreamDecodeMs ?? Infinity))
  const tpotMs = sum('tpotMs')
  const times = {
    upstreamDecodeMs: decodeMs === Infinity ? null : decodeMs,
    tpotMs: tpotMs === null ? null : tpotMs / choices.length,
  }
  if (choices.some((choice) => choice.usageSource === 'none')) return { ...first, ...noCounts, ...times }
  const isOnePrompt = choices.every((choice) => choice.inputTokens === first.inputTokens)
  const inputTokens = isOnePrompt ? first.inputTokens : sum('inputTokens')
  const outputTokens = sum('outputTokens') ?? 0
  return {
    ...first,
    ...times,
    inputTokens,
    cachedInputTokens: isOnePrompt ? first.cachedInputTokens : sum('cachedInputTokens'),
    outputTokens,
    reasoningTokens: sum('reasoningTokens'),
    totalTokens: (inputTokens ?? 0) + outputTokens,
  }
}

/** For a batch of prompts, llama.cpp reports the time of the first prompt and the tokens of all. */
function isOfWholePrompt(timings: Fields, counts: Counts | null): boolean {
  const computed = count(timings['prompt_n'])
  const input = counts?.inputTokens ?? null
  return computed === null || input === null || input <= computed + (count(timings['cache_n']) ?? 0)
}

/** True if the counts are of the same single choice as the timings. */
function coversOneChoice(usage: Fields, timings: Fields): boolean {
  const decoded = count(timings['predicted_n'])
  return decoded !== null && (usage === noFields || count(usage['completion_tokens']) === decoded)
}

/**
 * The usage of both objects. Fields of the later object override those of the first, whose output is only the
 * state at the start.
 */
function mergedUsage(pieces: UsagePieces): Fields {
  const first = fields(pieces.startUsage)
  const later = fields(pieces.usage)
  if (first === noFields) return later
  const before = { ...first, output_tokens: null }
  // Beside a compaction, zeros are counts.
  if (compactionsIn(later).length > 0) return { ...before, input_tokens: null, ...later }
  const counted = Object.entries(withoutZeros(before, later)).filter(([, value]) => value !== null)
  return { ...before, ...Object.fromEntries(counted) }
}

/** The later usage, in which a zero does not replace an earlier count. */
export function withoutZeros(earlier: Fields, later: Fields): Fields {
  const values = Object.entries(later).map(([name, value]) => [
    name,
    value === 0 ? (earlier[name] ?? value) : value,
  ])
  return Object.fromEntries(values) as Fields
}

/**
 * The counts of a usage; null without readable ones. `mayLackOutput`: a stream may have broken off after it
 * reported its input.
 */
function fromUsage(
  usage: Fields,
  timings: Fields,
  { callType, tokensAsked = 0 }: AskedCall,
  mayLackOutput: boolean,
): Counts | null {
  if (usage === noFields || !isReadable(usage)) return null
  const inputDetails = fields(
    usage['prompt_tokens_details'] ?? usage['input_tokens_details'] ?? usage['input_token_details'],
  )
  const outputDetails = fields(
    usage['completion_tokens_details'] ?? usage['output_tokens_details'] ?? usage['output_token_details'],
  )
  const total = count(usage['total_tokens'])
  const prompt = count(usage['prompt_tokens'])
  const plainInput = prompt ?? count(usage['input_tokens'])
  const completion = count(usage['completion_tokens']) ?? count(usage['output_tokens'])

  const cacheCreation = fields(usage['cache_creation'])
  const written1h = count(cacheCreation['ephemeral_1h_input_tokens'])
  const written5m = count(cacheCreation['ephemeral_5m_input_tokens'])
  const anthropicRead = count(usage['cache_read_input_tokens'])
  const writeInDetails =
    count(inputDetails['cache_write_tokens']) ?? count(inputDetails['cache_creation_input_tokens'])
  const anthropicWrite =
    count(usage['cache_creation_input_tokens']) ??
    (written1h === null && written5m === null ? null : (written1h ?? 0) + (written5m ?? 0))
  const cached =
    count(inputDetails['cached_tokens']) ??
    count(usage['prompt_cache_hit_tokens']) ??
    count(usage['cached_tokens']) ??
    anthropicRead ??
    count(timings['cache_n']) ??
    0

  let input = plainInput
  let output = completion
  if (callType === 'embedding' || callType === 'rerank') {
    input ??= total
    output ??= 0
  }
  if (prompt === null && input !== null) {
    // Anthropic counts cache reads and writes beside its input, all others within theirs.
    input += (anthropicRead ?? 0) + (anthropicWrite ?? 0)
  }
  if (input === null) return null
  const reasoning = count(outputDetails['reasoning_tokens']) ?? count(usage['reasoning_tokens'])
  const audio = count(inputDetails['audio_tokens'])
  if (total !== null && total >= input + (output ?? 0)) {
    let surplus = total - input - (output ?? 0)
    if (surplus > 0 && audio === null && (inputDetails['audio_tokens'] ?? null) !== null) return null
    // The upstream left the audio out of the prompt (Mistral).
    if (audio !== null && (surplus === audio || (surplus > audio && audio > input))) {
      input += audio
      surplus -= audio
    }
    // The upstream left the cached input out of the prompt.
    if (callType === 'chat' && surplus > 0 && surplus === cached && cached > input) input += surplus
    else if (callType === 'chat') output = withHidden({ output, surplus, reasoning, tokensAsked })
  }
  if (output === null && !mayLackOutput) return null

  return {
    inputTokens: input,
    outputTokens: output,
    cachedInputTokens: Math.min(cached, input),
    cacheWriteTokens: Math.min(writeInDetails ?? anthropicWrite ?? 0, input),
    cacheWrite1hTokens: Math.min(written1h ?? 0, input),
    inputAudioTokens: audio,
    outputAudioTokens: count(outputDetails['audio_tokens']),
    reasoningTokens: Math.min(reasoning ?? 0, output ?? 0),
    totalTokens: output === null ? null : input + output,
    usageSource: 'usage',
  }
}

/**
 * The output, with tokens of the total that are in no part: reasoning that xAI reports separately and Gemini
 * omits. The result is at most what the call allowed, and at most what any model outputs.
 */
function withHidden(counts: {
  readonly output: number | null
  readonly surplus: number
  readonly reasoning: number | null
  readonly tokensAsked: number
}): number | null {
  const { output, surplus, reasoning, tokensAsked } = counts
  if (output !== null && reasoning !== null && surplus > reasoning) return output
  const total = (output ?? 0) + surplus
  if (tokensAsked > 0) return Math.max(output ?? 0, Math.min(total, tokensAsked))
  return total <= longestOutput ? total : output
}

/** The counts from which input and output are computed. */
const countedNames = [
  'prompt_tokens',
  'input_tokens',
  'completion_tokens',
  'output_tokens',
  'total_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
]

/** True if each of {@link countedNames} is a count or is missing. */
function isReadable(usage: Fields): boolean {
  return countedNames.every((name) => (usage[name] ?? null) === null || count(usage[name]) !== null)
}

/** llama.cpp's own counts, for answers without usage. The prompt is its cached part plus its computed part. */
function fromTimings(timings: Fields): Counts | null {
  const cached = count(timings['cache_n'])
  const computed = count(timings['prompt_n'])
  const output = count(timings['predicted_n'])
  if (cached === null || computed === null || output === null) return null
  return {
    ...noCounts,
    inputTokens: cached + computed,
    outputTokens: output,
    cachedInputTokens: cached,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    reasoningTokens: 0,
    totalTokens: cached + computed + output,
    usageSource: 'timings',
  }
}

/**
 * The reported cost in nano-dollars: OpenRouter's `cost` (for a user's own key, plus the provider's part),
 * Perplexity's `cost.total_cost`, DeepInfra's `estimated_cost`, or xAI's ticks. Null without one.
 */
function reportedCost(usage: Fields, besideUsage: unknown): number | null {
  const cost =
    amount(usage['cost']) ??
    amount(fields(usage['cost'])['total_cost']) ??
    amount(usage['estimated_cost']) ??
    amount(besideUsage)
  if (cost !== null) {
    const isOwnKey = usage['is_byok'] === true
    const provider = isOwnKey ? amount(fields(usage['cost_details'])['upstream_inference_cost']) : null
    return Math.round((cost + (provider ?? 0)) * nanoPerUsd)
  }
  const ticks = usage['cost_in_usd_ticks']
  const isCost = isFinitePositive(ticks) && ticks / ticksPerNanoUsd <= mostCostNanoUsd
  return isCost ? Math.round(ticks / ticksPerNanoUsd) : null
}

function imageTokens(usage: Fields): number | null {
  const [input, output] = [count(usage['input_tokens']), count(usage['output_tokens'])]
  return (
    count(usage['total_tokens']) ?? (input === null && output === null ? null : (input ?? 0) + (output ?? 0))
  )
}

function isFinitePositive(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}

function count(value: unknown): number | null {
  return isFinitePositive(value) && Number.isInteger(value) && value <= mostTokens ? value : null
}

/** Dollars, as a number or in text; null for any other value. */
export function amount(value: unknown): number | null {
  const isText = typeof value === 'string' && /^\d{1,6}(?:\.\d+)?(?:e-?\d{1,2})?$/i.test(value)
  const number = isText ? Number(value) : value
  return isFinitePositive(number) && number * nanoPerUsd <= mostCostNanoUsd ? number : null
}

function tier(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= longestTier ? value : null
}

function milliseconds(value: unknown, perUnit: number): number | null {
  return isFinitePositive(value) && value * perUnit <= largestMs ? value * perUnit : null
}
