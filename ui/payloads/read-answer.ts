import type { OutgoingRecord } from '../../src/api/raw-log.ts'
import { count, counted } from '../format/figures.ts'
import type { ChatMessage, MessagePart } from './chat-message.ts'
import { type JsonObject, asText, listOf, objectOf, textOf } from './json-value.ts'
import { readContent } from './read-content.ts'
import { readItem, readMessage, readToolCalls } from './read-messages.ts'

/** What of an answer is read here. */
export type AnswerRecord = Pick<OutgoingRecord, 'body' | 'text' | 'reasoning' | 'tool_calls'>

/** What was answered: of a stream what was put together from it. No messages where its form is not known. */
export function readAnswer(record: AnswerRecord): readonly ChatMessage[] {
  const parts = partsOfStream(record)
  if (parts.length > 0) return [{ speaker: 'Assistant', note: null, parts }]
  return readBody(objectOf(record.body))
}

/** Whether the record is of a stream from which something was put together. */
export function isReassembled(record: AnswerRecord): boolean {
  return partsOfStream(record).length > 0
}

function partsOfStream({ text, reasoning, tool_calls: calls }: AnswerRecord): readonly MessagePart[] {
  return [
    ...(textOf(reasoning) === null ? [] : [{ kind: 'reasoning', text: reasoning ?? '' } as const]),
    ...(textOf(text) === null ? [] : [{ kind: 'text', text: text ?? '' } as const]),
    ...readToolCalls(calls),
  ]
}

function readBody(body: JsonObject): readonly ChatMessage[] {
  const choices = listOf(body['choices'])
  if (choices.length > 0) {
    return choices.map((one, at) => readChoice(objectOf(one), choices.length > 1 ? at + 1 : null))
  }
  if (Array.isArray(body['output'])) return body['output'].map(readItem)
  if (body['type'] === 'message' && Array.isArray(body['content'])) {
    return [withNote(readMessage(body), body['stop_reason'])]
  }
  if (body['object'] === 'list' && Array.isArray(body['data'])) return readList(body['data'])
  const ranked = body['results']
  return Array.isArray(ranked) ? readRanking(ranked) : []
}

function readChoice(choice: JsonObject, number: number | null): ChatMessage {
  const message = choice['message']
  const read =
    message === undefined
      ? { speaker: 'Assistant', note: null, parts: readContent(choice['text']) }
      : readMessage({ role: 'assistant', ...objectOf(message) })
  const speaker = number === null ? read.speaker : `${read.speaker}, choice ${number}`
  return withNote({ ...read, speaker }, choice['finish_reason'])
}

/** Why it ended, where that is not the usual end. */
function withNote(message: ChatMessage, reason: unknown): ChatMessage {
  const text = textOf(reason)
  const isUsual = text === null || ['stop', 'end_turn', 'tool_calls', 'tool_use'].includes(text)
  return isUsual ? message : { ...message, note: `ended by ${text}` }
}

/** Embeddings, or a list of things that have names: models. */
function readList(data: readonly unknown[]): readonly ChatMessage[] {
  const first = objectOf(data[0])['embedding']
  if (first === undefined) {
    const names = data.map((one) => asText(objectOf(one)['id'])).filter((name) => name !== '')
    return [{ speaker: 'Answer', note: null, parts: readContent(names.join('\n')) }]
  }
  const length = Array.isArray(first)
    ? `, each of ${count(first.length)} numbers`
    : typeof first === 'string'
      ? ', as base64'
      : ''
  const text = `${counted(data.length, 'embedding')}${length}`
  return [{ speaker: 'Answer', note: null, parts: [{ kind: 'media', text }] }]
}

function readRanking(results: readonly unknown[]): readonly ChatMessage[] {
  const lines = results.map((one) => {
    const {
      index,
      relevance_score: score,
      score: plain,
    } = objectOf(one) as {
      readonly index?: unknown
      readonly relevance_score?: unknown
      readonly score?: unknown
    }
    const place = typeof index === 'number' ? `Document ${count(index + 1)}` : 'Document'
    return `${place}: ${asText(score ?? plain)}`
  })
  return [{ speaker: 'Ranking', note: null, parts: [{ kind: 'text', text: lines.join('\n') }] }]
}
