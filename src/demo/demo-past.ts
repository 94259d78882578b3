import { firstIdAt } from '../call/call-id.ts'
import type { StoredCall } from '../call/call-record.ts'
import { isObject } from '../lib/message-shape.ts'
import { planCompletion } from './completion-plan.ts'
import { readCompletionRequest } from './completion-request.ts'
import { embeddingMs } from './embedding-answer.ts'
import { type DemoCall, type DemoClient, demoClients, sessionOf } from './demo-clients.ts'
import { type PastAnswer, pastRecord, retryAfterMs } from './past-record.ts'
import { type Random, between, drawFrom, integerBetween, seededRandom } from './random.ts'
import { type Fields, arrayOf, fieldsOf, modelOf, promptTokensOf } from './request-fields.ts'
import { drawFault, type FaultShares, type SimulatedFault } from './simulated-fault.ts'
import { embeddingModels } from './simulated-models.ts'

export interface PastOptions {
  /** End of the past, in ms since the Unix epoch. */
  readonly endMs: number
  readonly seed: number
  /** Host and port of the upstream in the rows. */
  readonly upstream: string
}

/** The hours in which one model was slow and refused calls. */
export interface PastIncident {
  readonly fromMs: number
  readonly toMs: number
  readonly model: string
}

const hourMs = 3_600_000
/** More than two weeks, so that the last seven days can be compared with the seven before. */
export const pastDays = 15
/** Slots of the demo gateway. */
export const pastSlots = 4
/** Shares of faults outside the incident: few, so that the incident stands out. */
const usualFaults: FaultShares = { rate_limited: 0.004, server_error: 0.003, broken: 0.003, stalled: 0.02 }
/** No failures in quiet hours: a single one could be half of an hour's calls, and look like an incident. */
const quietFaults: FaultShares = { ...usualFaults, rate_limited: 0, server_error: 0, broken: 0 }
const incidentFaults: FaultShares = { ...usualFaults, rate_limited: 0.6 }
const slowerBy = 5
const mostRetries = 2

/** Rounds that a client begins per hour, by the local hour of the day, and the share of them at weekends. */
interface Rhythm {
  readonly from: number
  readonly to: number
  readonly rounds: number
  /** The number in all other hours. */
  readonly otherwise: number
  readonly weekend: number
}

const rhythms: Readonly<Record<string, Rhythm>> = {
  'demo-chat-app': { from: 8, to: 19, rounds: 3, otherwise: 0.4, weekend: 0.3 },
  'demo-agent': { from: 9, to: 18, rounds: 4, otherwise: 0.6, weekend: 0.35 },
  'demo-nightly-indexer': { from: 1, to: 4, rounds: 5, otherwise: 0.1, weekend: 1 },
  'demo-editor': { from: 9, to: 18, rounds: 9, otherwise: 0.3, weekend: 0.15 },
  'demo-impatient-person': { from: 10, to: 23, rounds: 2.2, otherwise: 0.2, weekend: 0.8 },
}

/** The incident: on the morning of a working day, two to four days before the end. */
export function pastIncident(endMs: number): PastIncident {
  const day = new Date(endMs)
  day.setHours(10, 0, 0, 0)
  day.setDate(day.getDate() - 2)
  while (isWeekend(day)) day.setDate(day.getDate() - 1)
  return { fromMs: day.getTime(), toMs: day.getTime() + 3 * hourMs, model: 'simulated-large' }
}

/**
 * Fifteen days of the demo clients' calls, as a gateway would have recorded them, oldest hour first. The clients behave as
 * in the live traffic, with more calls by day than at night, and more from week to week.
 */
export function* demoPast({ endMs, seed, upstream }: PastOptions): Generator<readonly StoredCall[]> {
  const random = seededRandom(seed)
  const incident = pastIncident(endMs)
  const beginMs = endMs - pastDays * 24 * hourMs
  for (let fromMs = beginMs; fromMs < endMs; fromMs += hourMs) {
    const grown = 0.45 + (0.8 * (fromMs - beginMs)) / (endMs - beginMs)
    const calls: StoredCall[] = []
    for (const client of demoClients) {
      const rounds = drawFrom(random, { median: roundsAt(client.name, new Date(fromMs)) * grown, sigma: 0.3 })
      for (let left = wholeBy(random, rounds); left > 0; left--) {
        const startMs = between(random, fromMs, fromMs + hourMs)
        calls.push(...pastRound(client, startMs, { random, upstream, incident }))
      }
    }
    // Calls of a running round that lie in the future are left out.
    yield calls.filter(({ id }) => id < firstIdAt(endMs))
  }
}

function roundsAt(client: string, at: Date): number {
  const rhythm = rhythms[client]
  if (rhythm === undefined) return 0
  const { from, to, rounds, otherwise, weekend } = rhythm
  const hour = at.getHours()
  return (hour >= from && hour < to ? rounds : otherwise) * (isWeekend(at) ? weekend : 1)
}

function isWeekend(day: Date): boolean {
  return day.getDay() === 0 || day.getDay() === 6
}

function isBusy(at: Date): boolean {
  return !isWeekend(at) && at.getHours() >= 9 && at.getHours() < 18
}

/** A random whole number whose mean is `number`. */
function wholeBy(random: Random, number: number): number {
  return Math.floor(number + random())
}

interface Circumstances {
  readonly random: Random
  readonly upstream: string
  readonly incident: PastIncident
}

function* pastRound(client: DemoClient, startMs: number, around: Circumstances): Generator<StoredCall> {
  const { random } = around
  let nowMs = startMs
  for (const step of client.round(random, sessionOf(client.name, random))) {
    if (typeof step === 'number') {
      nowMs += step
      continue
    }
    const freeAtMs = Array.from({ length: pastSlots }, () => nowMs)
    for (const call of step) {
      const first = freeAtMs.indexOf(Math.min(...freeAtMs))
      for (let retry = 0; ; retry++) {
        const atMs = retry === 0 ? nowMs : (freeAtMs[first] ?? nowMs)
        const record = pastCall(call, client.name, {
          ...around,
          atMs,
          slotMs: freeAtMs[first] ?? nowMs,
          retry,
        })
        yield record
        freeAtMs[first] = atMs + (record.durationMs ?? 0)
        if (record.status !== 429 || retry === mostRetries) break
        freeAtMs[first] += retryAfterMs(retry, random)
      }
    }
    nowMs = Math.max(...freeAtMs)
  }
}

interface Moment extends Circumstances {
  readonly atMs: number
  /** When the call gets its slot, in ms since the Unix epoch. */
  readonly slotMs: number
  readonly retry: number
}

function pastCall(call: DemoCall, client: string, moment: Moment): StoredCall {
  const { random, upstream, incident, atMs, slotMs, retry } = moment
  const fields = fieldsOf(call.body)
  const isHit = atMs >= incident.fromMs && atMs < incident.toMs && fields['model'] === incident.model
  const faults = isHit ? incidentFaults : isBusy(new Date(atMs)) ? usualFaults : quietFaults
  const fault = call.body === undefined ? null : drawFault(random, faults)
  const answer = answerTo(call, fields, fault, isHit ? slowerBy : 1, random)
  const queueMs = Math.max(0, slotMs - atMs) + between(random, 0.01, 0.4)
  return pastRecord({ call, client, upstream, startMs: atMs, queueMs, retry, fault, random }, answer)
}

function answerTo(
  { path, body }: DemoCall,
  fields: Fields,
  fault: SimulatedFault | null,
  slower: number,
  random: Random,
): PastAnswer {
  const noCompletion = { stream: false, inputTokens: 0, outputTokens: 0, completion: null }
  if (!isObject(body)) {
    const ms = between(random, 0.6, 3)
    return { ...noCompletion, callType: 'props', model: null, beginsMs: ms, endsMs: ms, requestBytes: 0 }
  }
  const model = String(fields['model'])
  if (path === '/embeddings') {
    const embedder = modelOf(fields, embeddingModels)
    const inputs = arrayOf(fields['input'])
    const inputTokens = inputs.reduce<number>((sum, each) => sum + promptTokensOf(each), 0)
    const ms = embeddingMs(embedder, inputs.length, random)
    const asked = { beginsMs: ms, endsMs: ms, inputTokens, requestBytes: 4 * inputTokens + 40 }
    return { ...noCompletion, ...asked, callType: 'embedding', model }
  }
  const asked = readCompletionRequest(path === '/completions' ? 'text' : 'chat', fields)
  const { firstTokenMs } = asked.model
  const request = { ...asked, model: { ...asked.model, firstTokenMs: firstTokenMs * slower } }
  const plan = planCompletion(request, fault, random)
  return {
    callType: 'chat',
    model,
    stream: request.stream,
    beginsMs: plan.tokens[0]?.atMs ?? 0,
    endsMs: plan.tokens.at(-1)?.atMs ?? 0,
    inputTokens: request.promptTokens,
    outputTokens: plan.tokens.length,
    completion: { request, plan },
    requestBytes: 4 * request.promptTokens + integerBetween(random, 20, 60),
  }
}
