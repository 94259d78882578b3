import { sseEvent } from '../../support/response-bytes.ts'
import { type PlannedCall, modelOf } from './day.ts'

const tool = { name: 'bash', arguments: '{"command":"make test"}' }

/** The body of a whole answer, piece by piece as it is written: what the client must get, byte by byte. */
export function answerPieces(call: PlannedCall, withUsage: boolean): readonly string[] {
  if (call.kind === 'answered 429' || call.kind === 'answered 500')
    return [JSON.stringify({ error: { message: 'not now', type: 'server_error', code: 'busy' } })]
  if (call.kind === 'embedding') {
    const usage = { prompt_tokens: call.input, total_tokens: call.input }
    const data = [{ object: 'embedding', index: 0, embedding: [0.25, -0.5] }]
    return [JSON.stringify({ object: 'list', data, model: modelOf(call), usage })]
  }
  return call.stream ? events(call, withUsage) : [JSON.stringify(completion(call))]
}

function usageOf({ input, output }: PlannedCall): object {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
}

function completion(call: PlannedCall): object {
  const called = [{ id: `call_${call.n}`, type: 'function', function: tool }]
  const isTurn = call.kind === 'agent turn'
  const message = { role: 'assistant', content: isTurn ? null : `answer ${call.n} `.repeat(call.output) }
  const choice = {
    index: 0,
    message: isTurn ? { ...message, tool_calls: called } : message,
    finish_reason: isTurn ? 'tool_calls' : 'stop',
  }
  return { ...common(call, 'chat.completion'), choices: [choice], usage: usageOf(call) }
}

function common(call: PlannedCall, object: string): object {
  return { id: `chatcmpl-${call.n}`, object, created: 1, model: modelOf(call) }
}

function events(call: PlannedCall, withUsage: boolean): readonly string[] {
  const head = common(call, 'chat.completion.chunk')
  const chunk = (delta: object, finish_reason: string | null): string =>
    sseEvent({ ...head, choices: [{ index: 0, delta, finish_reason }] })
  const isTurn = call.kind === 'agent turn'
  const called = [{ index: 0, id: `call_${call.n}`, type: 'function', function: tool }]
  return [
    ...Array.from({ length: call.output }, (_, at) => chunk({ content: `w${at} ` }, null)),
    chunk(isTurn ? { tool_calls: called } : {}, isTurn ? 'tool_calls' : 'stop'),
    ...(withUsage ? [sseEvent({ ...head, choices: [], usage: usageOf(call) })] : []),
    sseEvent('[DONE]'),
  ]
}
