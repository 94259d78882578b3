import { textHash } from '../lib/text-hash.ts'
import type { ReadCall, StoredCall } from '../call/call-record.ts'
import { isObject } from '../lib/message-shape.ts'
import { readJson } from '../json/json-text.ts'
import { CsvReader } from './csv-reader.ts'
import { FieldError, type Fields } from './field-values.ts'
import { type ImportSource, importForms, importSources } from './forms.ts'
import { plausible } from './plausible-call.ts'
import { identityOfEntry } from './source-entry.ts'
import { cutOff, ImportError, type TextBlock, tooLong } from './text-blocks.ts'

/** A record by its column names; `fields` is null for a flawed record. */
export interface NamedRecord {
  readonly line: number
  readonly fields: Fields | null
  readonly problem: string
}

/** The calls of a file, and its source. */
export interface ReadCalls {
  readonly source: ImportSource
  /** The calls. The iteration throws {@link ImportError} if the file cannot be read to its end. */
  readonly calls: AsyncIterable<ReadCall>
}

/** Reads the calls of a text file. The source is detected if `named` is null. Rejects with {@link ImportError}. */
export async function readText(
  blocks: AsyncGenerator<TextBlock>,
  chosenSource: ImportSource | null,
): Promise<ReadCalls> {
  const records = recordsOf(blocks)
  const head = await records.next()
  if (head.done === true) throw new ImportError('it has no records')
  const source = sourceOf(head.value, chosenSource)
  return { source, calls: callsOf(withFirst([head.value], records), source) }
}

/** The calls of records of one source. */
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
      for (const parsedCall of importForms[source].callsOf(fields)) {
        const { call, notes } = plausible(parsedCall)
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

/**
 * The identity of one of our own calls. A call's id alone is not enough, because two databases may have the same
 * id.
 */
function ownIdentity({ id, instance, outcome, durationMs, inputTokens, outputTokens }: StoredCall): bigint {
  return textHash(JSON.stringify(['tokenweir', instance, id, outcome, durationMs, inputTokens, outputTokens]))
}

async function* withFirst<T>(first: readonly T[], rest: AsyncIterable<T>): AsyncGenerator<T> {
  yield* first
  yield* rest
}

/** True if a text is JSON with an object on each line. */
function isJson(text: string): boolean {
  const start = text.trimStart()
  const advice = 'write each record on a line'
  if (start.startsWith('[')) throw new ImportError(`a JSON array cannot be read: ${advice} (jq -c ".[]")`)
  if (/^\{\s*(?:\n|"data"\s*:)/.test(start))
    throw new ImportError(`a single JSON object cannot be read: ${advice} (jq -c ".data[]")`)
  return start.startsWith('{')
}

/** Reads the records of JSON or CSV, whichever the first lines are. */
async function* recordsOf(blocks: AsyncGenerator<TextBlock>): AsyncGenerator<NamedRecord> {
  const begin: TextBlock[] = []
  let text = ''
  while (text.trim() === '') {
    const { value, done } = await blocks.next()
    if (done === true) break
    begin.push(value)
    if (value.flaw !== 'long') text = value.text
  }
  const all = withFirst(begin, blocks)
  yield* isJson(text) ? jsonRecords(all) : csvRecords(all)
}

async function* csvRecords(blocks: AsyncIterable<TextBlock>): AsyncGenerator<NamedRecord> {
  const reader = new CsvReader()
  let names: readonly string[] | null = null
  for await (const block of blocks) {
    for (const { line, fields, problem } of reader.read(block)) {
      if (names === null) {
        if (problem !== '') throw new ImportError(`line ${line}: ${problem}`)
        names = fields.map((name) => name.trim())
      } else if (problem !== '') yield { line, fields: null, problem }
      else if (fields.length === names.length)
        yield { line, problem, fields: Object.fromEntries(names.map((name, index) => [name, fields[index]])) }
      else {
        const flaw = `it has ${fields.length} columns, but the first line has ${names.length}`
        yield { line, fields: null, problem: flaw }
      }
    }
  }
  const open = reader.end()
  if (open === null) return
  yield { ...open, fields: null }
  throw new ImportError(`line ${open.line}, ${open.problem}`)
}

async function* jsonRecords(blocks: AsyncIterable<TextBlock>): AsyncGenerator<NamedRecord> {
  for await (const { line, text, flaw } of blocks) {
    if (flaw === 'long') yield { line, fields: null, problem: tooLong }
    else
      for (const [index, recordText] of text.split('\n').entries())
        if (recordText.trim() !== '') yield jsonRecord(line + index, recordText, flaw)
  }
}

function jsonRecord(line: number, text: string, flaw: TextBlock['flaw']): NamedRecord {
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return { line, fields: value, problem: '' }
    return { line, fields: null, problem: 'is not a JSON object' }
  } catch {
    const reading = readJson(text)
    const column = 'message' in reading ? (reading.column ?? 1) : 1
    const problem = `column ${column}: ${'message' in reading ? reading.message : 'It is not JSON.'}`
    return { line, fields: null, problem: flaw === null ? problem : `${problem} ${cutOff}` }
  }
}

/** The source of a file, by its first record. Throws {@link ImportError} if it has no known form. */
function sourceOf({ fields, line, problem }: NamedRecord, chosenSource: ImportSource | null): ImportSource {
  if (fields === null) {
    if (chosenSource !== null) return chosenSource
    throw new ImportError(`line ${line}: ${problem}; to continue after it, use --from`)
  }
  const missingOf = (source: ImportSource): readonly string[] =>
    importForms[source].columns.filter((column) => !(column in fields))
  const source = chosenSource ?? importSources.find((candidate) => missingOf(candidate).length === 0)
  if (source === undefined) {
    const names = Object.keys(fields).slice(0, 12).join(', ')
    throw new ImportError(
      `it is no export of tokenweir, LiteLLM or the older proxy; its columns are ${names || 'none'}`,
    )
  }
  const missing = missingOf(source)
  if (missing.length === 0) return source
  throw new ImportError(`it is not ${importForms[source].words}: it has no column ${missing.join(', ')}`)
}
