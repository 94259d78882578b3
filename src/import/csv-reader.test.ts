import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { csvLine } from '../query/row-text.ts'
import { CsvReader, type CsvRecord } from './csv-reader.ts'
import { blocksOf, cutOff, tooLong } from './text-blocks.ts'
import { fieldsOf } from '../../test/support/fields-of.ts'

/** As of a file. */
const pieceBytes = 65_536

async function recordsOf(bytes: Iterable<Buffer>): Promise<readonly CsvRecord[]> {
  const reader = new CsvReader()
  const records: CsvRecord[] = []
  for await (const block of blocksOf(Readable.from(bytes))) records.push(...reader.read(block))
  const last = reader.end()
  return last === null ? records : [...records, last]
}

/** The fields of each record, or its problem, by its line. */
async function toldOf(text: string): Promise<unknown> {
  const bytes = Buffer.from(text)
  const pieces = Array.from({ length: bytes.length / pieceBytes + 1 }, (_, index) =>
    bytes.subarray(index * pieceBytes, (index + 1) * pieceBytes),
  )
  const records = await recordsOf(pieces)
  assert.equal(new Set(fieldsOf(records, 'line')).size, records.length)
  return Object.fromEntries(records.map(({ line, fields, problem }) => [line, problem || fields]))
}

test('whatever our own CSV holds is read as it was, however it is cut into pieces', async () => {
  // Without what a spreadsheet would take for a formula: before that it writes a quote.
  const field = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', 'é', '💧', ' ') })
  const plain = field.filter((text) => !/^[\r]/.test(text))
  const rows = fc.array(fc.array(plain, { minLength: 2, maxLength: 4 }))
  await fc.assert(
    fc.asyncProperty(rows, fc.array(fc.integer({ min: 0, max: 40 })), async (lines, cuts) => {
      const bytes = Buffer.from(lines.map((line) => csvLine(line)).join(''))
      const pieces: Buffer[] = []
      let at = 0
      for (const cut of cuts) pieces.push(bytes.subarray(at, (at += cut)))
      const read = await recordsOf([...pieces, bytes.subarray(at)])
      assert.deepEqual(fieldsOf(read, 'fields'), lines)
    }),
  )
})

test('lines are counted within quotes too; each record knows where it begins', async () => {
  const read = { 1: ['a', 'b'], 2: ['1', 'x\ny'], 5: ['2', 'z\r\n'], 7: ['3', '4'], 8: cutOff }
  assert.deepEqual(await toldOf('a,b\r\n1,"x\ny"\r\n\r\n2,"z\r\n"\n3,4\n5,'), read)
})

test('a quote in the wrong place is told with its field, and the next record is read', async () => {
  const read = { 1: 'field 2: text follows the closing quote', 2: ['1', '2"3"', '4'] }
  assert.deepEqual(await toldOf('a,"b"c,d\n1,2"3",4\n'), read)
})

test('a quote that never ends is told where it begins', async () => {
  const problem = 'field 2: the quote that begins here never ends, so nothing from here on was read'
  for (const end of ['', '\n'])
    assert.deepEqual(await toldOf(`a,b\n1,"never\n2,3\n4,5${end}`), { 1: ['a', 'b'], 2: problem })
})

const mebibyte = `${'""'.repeat(1000)}${'x'.repeat(2 ** 20)}`

/** Reads a record of 400 MiB in a process of its own, and prints the records and the most memory that it took, in KiB. */
const longRecord = `
  import { Readable } from 'node:stream'
  import { CsvReader } from './csv-reader.ts'
  import { blocksOf } from './text-blocks.ts'
  const piece = Buffer.from('""'.repeat(1000) + 'x'.repeat(2 ** 20) + process.argv[1])
  function* pieces() {
    yield Buffer.from('a,b\\n1,"')
    for (let count = 0; count < 400; count++) yield piece
    yield Buffer.from('"\\n3,4\\n')
  }
  const reader = new CsvReader()
  const records = []
  for await (const block of blocksOf(Readable.from(pieces()))) records.push(...reader.read(block))
  const read = records.map(({ line, fields, problem }) => [line, problem || fields])
  console.log(JSON.stringify({ read, mostKib: process.resourceUsage().maxRSS }))
`

for (const [what, lineEnd, lines] of [
  ['one line', '', 0],
  ['many lines', '\n', 400],
] as const) {
  test(`a record of hundreds of megabytes in ${what} is left out, costs no memory, and what follows is read`, () => {
    const args = ['--input-type=module', '--eval', longRecord, lineEnd]
    const text = execFileSync(process.execPath, args, { cwd: import.meta.dirname, encoding: 'utf8' })
    const { read, mostKib } = JSON.parse(text)
    assert.deepEqual(read, [
      [1, ['a', 'b']],
      [2, 'is longer than 32 MiB'],
      [3 + lines, ['3', '4']],
    ])
    assert.ok(mostKib < 350 * 1024, `${mostKib} KiB`)
  })
}

test('a line that is too long may begin or end within quotes: what follows is read', async () => {
  const long = mebibyte.repeat(33)
  assert.deepEqual(await toldOf(`1,"${long}\nx,y\n",2\n3,4\n`), { 1: tooLong, 4: ['3', '4'] })
  assert.deepEqual(await toldOf(`1,"x\n${long}",2\n3,4\n5,"${long}`), {
    1: tooLong,
    3: ['3', '4'],
    4: 'field 1: the quote that begins here never ends, so nothing from here on was read',
  })
})
