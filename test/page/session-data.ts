import { idsPerMs } from '../../src/call/call-id.ts'
import type { CallRecord } from '../../src/call/call-record.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import { chatCall } from '../store/sample-call.ts'
import { pageDatabase } from './page-data.ts'
import { writeCalls } from '../store/write-calls.ts'

export interface SampleRun {
  readonly session: string
  readonly client?: string
  readonly calls: number
  /** When its first call begins, before now. */
  readonly agoMs: number
  /** The upstream says how much of a prompt its cache held, as it does unless told. */
  readonly isCacheTold?: boolean
  /** Of each of its calls: `team:search,env:prod`. */
  readonly tags?: string
}

const tools = ['Read', 'Bash', 'Edit', 'Read,Grep', 'Bash'] as const

/**
 * The calls of an agent's run: a prompt that grows and is cached, a tool after each answer, now and then three calls at
 * once, one that fails (the fifth), a break of the cache (the tenth), and an hour without its user (before the twelfth).
 */
export function sampleRun(
  { session, client = 'claude-code', calls, agoMs, isCacheTold = true, tags }: SampleRun,
  nowMs: number,
): CallRecord[] {
  const records: CallRecord[] = []
  let atMs = Math.floor(nowMs) - agoMs
  let prompt = 6200
  let cached = 0
  for (let at = 0; at < calls; at++) {
    const isFailed = at === 4
    const isTogether = at % 14 >= 6 && at % 14 < 8
    const outputTokens = 90 + ((at * 137) % 620)
    const ttftMs = 420 + ((at * 91) % 700)
    const durationMs = ttftMs + outputTokens * 14
    const isLast = at === calls - 1
    records.push({
      ...chatCall(atMs * idsPerMs + records.length),
      session,
      sessionSource: 'x-claude-code-session-id',
      client,
      ...(tags !== undefined && { tags }),
      model: at % 14 === 7 ? 'claude-haiku-5' : 'claude-sonnet-5',
      queueMs: at % 9 === 3 ? 640.5 : 0.2,
      ttfbMs: ttftMs - 20,
      ttftMs,
      ttfoMs: ttftMs,
      durationMs,
      inputTokens: isFailed ? null : prompt,
      cachedInputTokens: isFailed || !isCacheTold ? null : at === 9 ? 0 : cached,
      outputTokens: isFailed ? null : outputTokens,
      totalTokens: isFailed ? null : prompt + outputTokens,
      costNanoUsd: isFailed ? null : (prompt - cached) * 3000 + cached * 300 + outputTokens * 15_000,
      toolCalls: isFailed || isLast ? null : 1,
      tools: isFailed || isLast ? null : (tools[at % tools.length] ?? null),
      ...(isFailed
        ? {
            outcome: 'upstream_error',
            failureCode: 'upstream_http',
            status: 529,
            finishReason: null,
            usageSource: 'none',
          }
        : {}),
    })
    cached = prompt
    prompt += 400 + ((at * 211) % 1500)
    const gapMs = at === 10 ? 3_600_000 : 300 + ((at * 733) % 9000)
    atMs += isTogether ? 350 : Math.ceil(durationMs) + gapMs
  }
  return records
}

/** Adds the runs to the database of a dashboard in this folder. */
export function writeRuns(directory: string, runs: readonly SampleRun[], nowMs: number = Date.now()): void {
  const database = openForWriting(pageDatabase(directory))
  try {
    database.exec('PRAGMA synchronous = OFF')
    const records = runs.flatMap((run) => sampleRun(run, nowMs))
    writeCalls(
      database,
      records.sort((one, other) => one.id - other.id),
    )
  } finally {
    database.close()
  }
}
