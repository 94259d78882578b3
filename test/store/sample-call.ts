import type { CallRecord } from '../../src/call/call-record.ts'
import type { CallStart } from '../../src/call/call.ts'
import { idsPerMs } from '../../src/call/call-id.ts'

/** 2026-11-21T04:00:00.000Z, a whole hour. */
export const sampleStartMs = 1_795_233_600_000

/** A typical streamed chat call: what most rows look like. */
export function chatCall(id: number = sampleStartMs * idsPerMs): CallRecord {
  const spread = (id * 7919) % 1000
  return {
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
    failureCode: null,
    upstreamErrorCode: null,
    errorMessage: null,
    finishReason: 'stop',
    attempts: 1,
    clientRetry: 0,
    receiveMs: 0.125,
    queueMs: 0.004,
    retryWaitMs: null,
    connectMs: null,
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
    inputAudioTokens: null,
    outputAudioTokens: null,
    reasoningTokens: 0,
    totalTokens: 1369,
    usageSource: 'usage',
    requestBytes: 5321,
    responseBytes: 41_873,
    searchUnits: null,
    upstreamRequestId: null,
    upstreamQueueMs: null,
    upstreamPromptMs: null,
    upstreamDecodeMs: null,
    client: 'openai-python',
    keyFingerprint: 'a1b2c3d4',
    userAgent: 'OpenAI/Python 2.9.0',
    session: null,
    costNanoUsd: 412_500,
    priceSource: 'snapshot',
    priceKey: 'openai/gpt-5.1-mini',
  }
}

/** Every field set, each to a value of its own, so that two that change places are noticed. */
export function fullCall(id: number): CallRecord {
  return {
    ...chatCall(id),
    callType: 'rerank',
    method: 'PUT',
    outcome: 'upstream_error',
    status: 502,
    failureCode: 'upstream_timeout',
    upstreamErrorCode: 'overloaded',
    errorMessage: 'It said "no" – and 😀',
    attempts: 2,
    clientRetry: 3,
    receiveMs: 1.001,
    queueMs: 2.002,
    retryWaitMs: 3.003,
    connectMs: 4.004,
    ttfbMs: 5.005,
    ttftMs: 6.006,
    ttfoMs: 7.007,
    durationMs: 8.008,
    overheadMs: 9.009,
    tpotMs: 10.01,
    chunks: 11,
    gapP50Ms: 12.012,
    gapP95Ms: 13.013,
    gapMaxMs: 14.014,
    stalls: 15,
    inputTokens: 16,
    outputTokens: 17,
    cachedInputTokens: 18,
    cacheWriteTokens: 19,
    cacheWrite1hTokens: 20,
    inputAudioTokens: 21,
    outputAudioTokens: 22,
    reasoningTokens: 23,
    totalTokens: 24,
    usageSource: 'timings',
    requestBytes: 25,
    responseBytes: 26,
    searchUnits: 27,
    upstreamRequestId: 'req_28',
    upstreamQueueMs: 29.029,
    upstreamPromptMs: 30.03,
    upstreamDecodeMs: 31.031,
    keyFingerprint: 'ffffffff',
    session: 'a session',
    costNanoUsd: 32,
  }
}

/** As little as a call can have. */
export function bareCall(id: number): CallRecord {
  const nulls = Object.fromEntries(Object.keys(chatCall(id)).map((name) => [name, null]))
  const known = {
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
  } as const
  return Object.assign(chatCall(id), nulls, known)
}

/** The start of {@link chatCall}. */
export function callStart(id: number = sampleStartMs * idsPerMs): CallStart {
  const { endpoint, method, client, userAgent, session, keyFingerprint, clientRetry } = chatCall(id)
  const { model, stream, requestBytes } = chatCall(id)
  return {
    id,
    type: 'chat',
    endpoint,
    method,
    client,
    userAgent,
    session,
    keyFingerprint,
    clientRetry,
    model,
    stream,
    upstream: 'api.openai.com',
    requestBytes,
  }
}
