import type { AnswerColumns } from './wire-form.ts'

/** The chunks that the streams of `/v1/chat/completions` are made of here. */
export const model = 'weir-2'
export const usage = { prompt_tokens: 21, completion_tokens: 8, total_tokens: 29 } as const

/** A chunk as OpenAI writes it. */
export function chunk(delta: object, finish: string | null = null, more: object = {}, index = 0): object {
  return {
    id: 'chatcmpl-W1',
    object: 'chat.completion.chunk',
    created: 1790000000,
    model,
    choices: [{ index, delta, logprobs: null, finish_reason: finish }],
    ...more,
  }
}

/** The chunk without choices that comes last, and tells the usage. */
export function lastChunk(more: object): object {
  return chunk({}, null, { choices: [], ...more })
}

export const role: object = chunk({ role: 'assistant', content: '', refusal: null })
export const water: object = chunk({ content: 'Water' })
export const rises: object = chunk({ content: ' rises.' })
export const stop: object = chunk({}, 'stop')

/** Two words and a finish reason. */
export const plain: readonly object[] = [role, water, rises, stop]

/** The same, each chunk with further members. */
export function withMore(more: object): object[] {
  return plain.map((each) => Object.assign({}, each, more))
}

/** What `plain` leaves in a row. */
export const spoken: Partial<AnswerColumns> = { response_model: model, finish_reason: 'stop', chunks: 2 }
