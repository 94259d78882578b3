import { textHash } from '../lib/text-hash.ts'
import type { ReadCall, StoredCall } from '../call/call-record.ts'
import { isObject } from '../lib/message-shape.ts'
import { readJson } from '../json/json-text.ts'
import { CsvReader, longestRecord, type ReadRecord } from './csv-reader.ts'
import { FieldError, type Fields } from './field-values.ts'
import { type ImportSource, importForms, importSources } from './forms.ts'
import { linesOf } from './line-splitter.ts'
import { plausible } from './plausible-call.ts'
import { bodies, identityOfEntry } from './source-entry.ts'
import { ImportError, type TextSource } from './text-source.ts'

/** A record by the names of its columns; null if it is not what it should be. */
export interface NamedRecord {
  readonly line: number
  readonly fields: Fields | null
  readonly problem: string
}

/** A file's calls, one after the other, and what it was found to be of. */
export interface ReadCalls {
  readonly source: ImportSource
  /** Throws {@link ImportError} if it cannot be read to its end. */
  readonly calls: AsyncIterable<ReadCall>
}

/** Reads the calls of a file of text, whose source is detected unless it is named. Throws {@link ImportError}. */
export async function readText(text: TextSource, named: ImportSource | null): Promise<ReadCalls> {
  const first = await firstPiece(text.pieces)
  const records = recordsOf(first, withFirst(first, text.pieces))
  const head = await records.next()
  if (head.done === true) throw new ImportError('the file holds no record')
  const source = sourceOf(head.value, named)
  return { source, calls: callsOf(withFirst(head.value, records), source) }
}

/** Calls of records that are of one source. */
export async function* callsOf(
  records: AsyncIterable<NamedRecord>,
  source: ImportSource,
): AsyncGenerator<ReadCall> {
  for await (const { line, fields, problem } of records) {
    if (fields === null) {
      yield notRead(line, problem)
      continue
    }
    try {
      let part = 0
      for (const found of importForms[source].callsOf(fields)) {
        const { call, notes } = plausible(found)
        const identity = source === 'tokenweir' ? ownIdentity(call) : identityOfEntry(source, fields, part++)
        yield { line, call, identity, problem: '', notes }
      }
    } catch (error) {
      if (!(error instanceof FieldError)) throw error
      yield notRead(line, error.message)
    }
  }
}

function notRead(line: number, problem: string): ReadCall {
  return { line, call: null, identity: 0n, problem, notes: [] }
}

/** A call of ours is known by its id, of which every database has its own. */
function ownIdentity({ id, instance, outcome, durationMs, inputTokens, outputTokens }: StoredCall): bigint {
  return textHash(JSON.stringify(['tokenweir', instance, id, outcome, durationMs, inputTokens, outputTokens]))
}

async function firstPiece(pieces: AsyncGenerator<string>): Promise<string> {
  for (let text = ''; ;) {
    const { value, done } = await pieces.next()
    if (done === true) return text
    text += value
    if (text.trim() !== '') return text
  }
}

async function* withFirst<T>(first: T, rest: AsyncIterable<T>): AsyncGenerator<T> {
  yield first
  yield* rest
}

/** True if a text is JSON, an object on each line. */
function isJson(text: string): boolean {
  const start = text.trimStart()
  const advice = 'write each record on a line'
  if (start.startsWith('[')) throw new ImportError(`an array of JSON is not read: ${advice} (jq -c ".[]")`)
  if (/^\{\s*(?:\n|"data"\s*:)/.test(start))
    throw new ImportError(`one object of JSON is not read: ${advice} (jq -c ".data[]")`)
  return start.startsWith('{')
}

function recordsOf(first: string, pieces: AsyncIterable<string>): AsyncGenerator<NamedRecord> {
  return isJson(first) ? jsonLines(pieces) : csvRecords(pieces)
}

async function* csvRecords(pieces: AsyncIterable<string>): AsyncGenerator<NamedRecord> {
  const reader = new CsvReader()
  let names: readonly string[] | null = null
  const named = ({ line, fields, problem }: ReadRecord): NamedRecord => {
    if (fields === null || names === null) return { line, fields: null, problem }
    if (fields.length === names.length) {
      return { line, problem, fields: Object.fromEntries(names.map((name, index) => [name, fields[index]])) }
    }
    const flaw = `it has ${fields.length} columns in place of the ${names.length} of the first line`
    return { line, fields: null, problem: flaw }
  }
  for await (const piece of pieces) {
    for (const record of reader.push(piece)) {
      if (names !== null) yield named(record)
      else if (record.fields === null) throw new ImportError(`line ${record.line}: ${record.problem}`)
      else names = headOf(record.fields, reader)
    }
  }
  const last = reader.end()
  if (last === null) return
  if (names === null)
    throw new ImportError(`line ${last.line}: ${last.problem || 'a line of names is all there is'}`)
  const record = named(last)
  yield record.fields === null ? record : { line: record.line, fields: null, problem: cut }
  if (last.problem.includes('never ends')) throw new ImportError(`line ${last.line}, ${last.problem}`)
}

const cut = 'the file ends within this line: it was cut off, or lacks its last line break'

/** The names of the columns; what is known to be text of prompts and answers is not even kept. */
function headOf(fields: readonly string[], reader: CsvReader): readonly string[] {
  const names = fields.map((name) => name.trim())
  reader.isWanted = (column) => !bodies.has(names[column] ?? '')
  return names
}

async function* jsonLines(pieces: AsyncIterable<string>): AsyncGenerator<NamedRecord> {
  for await (const { line, text, hasEnd } of linesOf(pieces)) {
    if (text?.trim() === '') continue
    if (text === null) yield { line, fields: null, problem: `is longer than ${longestRecord / 2 ** 20} MiB` }
    else yield jsonRecord(line, text, hasEnd)
  }
}

function jsonRecord(line: number, text: string, hasEnd: boolean): NamedRecord {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    const reading = readJson(text)
    const column = 'message' in reading ? (reading.column ?? 1) : 1
    const problem = `column ${column}: ${'message' in reading ? reading.message : 'It is not JSON.'}`
    return { line, fields: null, problem: hasEnd ? problem : `${problem} ${cut}` }
  }
  return objectRecord(line, value)
}

function objectRecord(line: number, value: unknown): NamedRecord {
  return isObject(value)
    ? { line, fields: value, problem: '' }
    : { line, fields: null, problem: 'is no object of JSON' }
}

function sourceIn(fields: Fields): ImportSource | undefined {
  return importSources.find((name) => importForms[name].columns.every((column) => column in fields))
}

function sourceOf({ fields, line, problem }: NamedRecord, named: ImportSource | null): ImportSource {
  if (fields === null && named === null) {
    throw new ImportError(`line ${line}: ${problem}; to continue after it, use --from`)
  }
  if (named === null) {
    const source = sourceIn(fields ?? {})
    if (source !== undefined) return source
    const names = Object.keys(fields ?? {})
      .slice(0, 12)
      .join(', ')
    throw new ImportError(`it is of no form that can be imported; its columns are ${names || 'none'}`)
  }
  const missing = fields === null ? [] : importForms[named].columns.filter((column) => !(column in fields))
  if (missing.length === 0) return named
  throw new ImportError(`it is not ${importForms[named].words}: it has no column ${missing.join(', ')}`)
}
