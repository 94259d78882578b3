import { storedFields } from '../../src/call/fields/call-fields.ts'
import { type CallRecord, unknownFields } from '../../src/call/call-record.ts'
import type { CallStart } from '../../src/call/call.ts'
import { idsPerMs } from '../../src/call/call-id.ts'

/** 2026-11-21T04:00:00.000Z, a whole hour. */
export const sampleStartMs = 1_795_233_600_000

/** An id of the millisecond that lies so long after {@link sampleStartMs}. */
export const idAt = (ms: number): number => (sampleStartMs + ms) * idsPerMs

/** A typical streamed chat call: what most rows look like. */
export function chatCall(id: number = sampleStartMs * idsPerMs): CallRecord {
  const spread = (id * 7919) % 1000
  return {
    ...unknownFields,
    id,
    callType: 'chat',
    endpoint: '/v1/chat/completions',
    method: 'POST',
    stream: true,
    model: 'gpt-5.1-mini',
    responseModel: 'gpt-5.1-mini-2026-08-01',
    serviceTier: 'default',
    upstream: 'api.openai.com',
    instance: 'k3v9',
    status: 200,
    outcome: 'ok',
    finishReason: 'stop',
    attempts: 1,
    clientRetry: 0,
    receiveMs: 0.125,
    queueMs: 0.004,
    ttfbMs: 180.25 + spread,
    ttftMs: 182.5 + spread,
    ttfoMs: 182.5 + spread,
    durationMs: 2310.75 + spread,
    overheadMs: 0.31,
    tpotMs: 13.02,
    chunks: 164,
    gapP50Ms: 12.8,
    gapP95Ms: 19.4,
    gapMaxMs: 41.7,
    stalls: 0,
    inputTokens: 1204,
    outputTokens: 165,
    cachedInputTokens: 1024,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    reasoningTokens: 0,
    totalTokens: 1369,
    usageSource: 'usage',
    requestBytes: 5321,
    responseBytes: 41_873,
    client: 'openai-python',
    keyFingerprint: 'a1b2c3d4',
    userAgent: 'OpenAI/Python 2.9.0',
    costNanoUsd: 412_500,
    priceSource: 'snapshot',
    priceKey: 'openai/gpt-5.1-mini',
  }
}

/** Every field set, each to a value of its own, so that two that change places are noticed. */
export function fullCall(id: number): CallRecord {
  const values = storedFields.map(({ record, kind }, index): [string, unknown] => {
    if (kind === 'time') return [record, 20 + index + (20 + index) / 1000]
    return [record, kind === 'count' || kind === 'cost' ? 20 + index : `${record} ${index}`]
  })
  return {
    ...(Object.fromEntries(values) as unknown as CallRecord),
    id,
    callType: 'rerank',
    endpoint: '/v1/chat/completions',
    stream: true,
    model: 'gpt-5.1-mini',
    client: 'openai-python',
    // Part of the input.
    cachedInputTokens: 12,
    outcome: 'upstream_error',
    status: 502,
    failureCode: 'upstream_timeout',
    upstreamErrorCode: 'overloaded',
    errorMessage: 'It said "no" – and 😀',
    instance: 'k3v9',
    durationMs: 8.008,
    usageSource: 'timings',
    keyFingerprint: 'ffffffff',
  }
}

/** As little as a call can have. */
export function bareCall(id: number): CallRecord {
  return {
    ...unknownFields,
    id,
    callType: 'other',
    endpoint: '/v1/files',
    method: 'GET',
    stream: false,
    instance: 'k3v9',
    outcome: 'refused',
    attempts: 0,
    durationMs: 0,
    usageSource: 'none',
    requestBytes: 0,
    responseBytes: 0,
  }
}

/** The start of {@link chatCall}. */
export function callStart(id: number = sampleStartMs * idsPerMs): CallStart {
  const { endpoint, method, client, userAgent, session, keyFingerprint, clientRetry } = chatCall(id)
  const { model, stream, requestBytes, sessionSource, tags } = chatCall(id)
  return {
    id,
    callType: 'chat',
    endpoint,
    method,
    client,
    userAgent,
    session,
    sessionSource,
    tags,
    keyFingerprint,
    clientRetry,
    model,
    stream,
    upstream: 'api.openai.com',
    requestBytes,
  }
}
