import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { formatCallId } from '../call/call-id.ts'
import { storedFields } from '../call/fields/call-fields.ts'
import { columnsOf, csvText, ndjsonText } from '../query/row-text.ts'
import { readText } from './read-import.ts'
import { blocksOf } from './text-blocks.ts'

const blank = Object.fromEntries(storedFields.map(({ name }) => [name, null]))

/** An exported call of which an import keeps this message and name of a model. */
function exportedCall(text: string): object {
  return {
    ...blank,
    id: formatCallId(Date.UTC(2026, 4, 1) * 4096),
    call_type: 'chat',
    endpoint: '/v1/chat/completions',
    method: 'POST',
    stream: false,
    instance: 'weir',
    outcome: 'upstream_error',
    attempts: 1,
    usage_source: 'none',
    request_bytes: 7,
    response_bytes: 9,
    duration_ms: 12,
    model: text,
    error_message: text,
  }
}

async function textsAfter(file: string): Promise<readonly unknown[]> {
  const { calls } = await readText(blocksOf(Readable.from([Buffer.from(file)])), 'tokenweir')
  const read = await Array.fromAsync(calls)
  assert.deepEqual([read.length, read[0]?.problem], [1, ''])
  return [read[0]?.call?.model, read[0]?.call?.errorMessage]
}

const texts = ["'-x' is no number", "'=' expected", "'@here'", "''-x", "'it", '-x', '=1+1', "it's -x"]

for (const text of texts) {
  test(`${text} is the same after an export and an import, as CSV and as NDJSON`, async () => {
    const call = exportedCall(text)
    assert.deepEqual(await textsAfter(csvText([call], columnsOf(call))), [text, text])
    assert.deepEqual(await textsAfter(ndjsonText([call])), [text, text])
  })
}
