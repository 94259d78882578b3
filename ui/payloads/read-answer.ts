import type { OutgoingRecord } from '../../src/api/raw-log.ts'
import { count, counted } from '../format/figures.ts'
import { type JsonObject, asText, listOf, objectOf, textOf } from './json-value.ts'
import {
  type ChatMessage,
  type MessagePart,
  readContent,
  readItem,
  readMessage,
  readToolCalls,
  messageBy,
  textPart,
} from './read-messages.ts'

/** The fields of an answer's record that are read here. */
export type AnswerRecord = Pick<OutgoingRecord, 'body' | 'text' | 'reasoning' | 'tool_calls'>

/** Returns the answer's messages; for a stream, those that the gateway assembled. Empty for an unknown form. */
export function readAnswer(record: AnswerRecord): readonly ChatMessage[] {
  const parts = partsOfStream(record)
  return parts.length > 0 ? [messageBy('Assistant', parts)] : readBody(objectOf(record.body))
}

/** True if the record is of a stream from which the gateway assembled a message. */
export function isReassembled(record: AnswerRecord): boolean {
  return partsOfStream(record).length > 0
}

function partsOfStream({ text, reasoning, tool_calls: calls }: AnswerRecord): readonly MessagePart[] {
  return [...textPart('reasoning', reasoning), ...textPart('text', text), ...readToolCalls(calls)]
}

function readBody(body: JsonObject): readonly ChatMessage[] {
  const { output, type, content, object, data, results } = body
  const choices = listOf(body['choices'])
  if (choices.length > 0) {
    return choices.map((choice, at) => readChoice(objectOf(choice), choices.length > 1 ? at + 1 : null))
  }
  if (Array.isArray(output)) return output.map(readItem)
  if (type === 'message' && Array.isArray(content)) return [withNote(readMessage(body), body['stop_reason'])]
  if (object === 'list' && Array.isArray(data)) return [messageBy('Response', readList(data))]
  return Array.isArray(results) ? [messageBy('Ranking', textPart('text', rankingWords(results)))] : []
}

function readChoice(choice: JsonObject, number: number | null): ChatMessage {
  const { message, text, finish_reason: reason } = choice
  const read =
    message === undefined
      ? messageBy('Assistant', readContent(text))
      : readMessage({ role: 'assistant', ...objectOf(message) })
  const speaker = number === null ? read.speaker : `${read.speaker}, choice ${number}`
  return withNote({ ...read, speaker }, reason)
}

/** Adds the finish reason as a note, unless it is a usual one. */
function withNote(message: ChatMessage, reason: unknown): ChatMessage {
  const text = textOf(reason)
  const isUsual = text === null || ['stop', 'end_turn', 'tool_calls', 'tool_use'].includes(text)
  return isUsual ? message : { ...message, note: `finish reason: ${text}` }
}

/** Reads a list of embeddings, or of named things such as models. */
function readList(data: readonly unknown[]): readonly MessagePart[] {
  const first = objectOf(data[0])['embedding']
  if (first === undefined) {
    const names = data.map((item) => asText(objectOf(item)['id'])).filter((name) => name !== '')
    return readContent(names.join('\n'))
  }
  const form = Array.isArray(first)
    ? `, each of ${count(first.length)} numbers`
    : typeof first === 'string'
      ? ', as base64'
      : ''
  return [{ kind: 'media', text: `${counted(data.length, 'embedding')}${form}` }]
}

function rankingWords(results: readonly unknown[]): string {
  return results
    .map((result) => {
      const { index, relevance_score: score, score: plain } = objectOf(result)
      const document = typeof index === 'number' ? `Document ${count(index + 1)}` : 'Document'
      return `${document}: ${asText(score ?? plain)}`
    })
    .join('\n')
}
