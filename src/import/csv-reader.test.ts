import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { csvLine } from '../query/row-text.ts'
import { CsvReader, type ReadRecord } from './csv-reader.ts'

function recordsOf(pieces: readonly string[], keeps?: (column: number) => boolean): readonly ReadRecord[] {
  const reader = new CsvReader()
  if (keeps !== undefined) reader.isWanted = keeps
  const records = pieces.flatMap((piece) => [...reader.push(piece)])
  const last = reader.end()
  return last === null ? records : [...records, last]
}

const fieldsOf = (text: string): unknown => recordsOf([text]).map(({ fields, problem }) => fields ?? problem)

test('whatever our own CSV holds is read as it was, however it is cut into pieces', () => {
  // Without what a spreadsheet would take for a formula: before that it writes a quote.
  const field = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', 'é', '💧', ' ') })
  const rows = fc.array(
    fc.array(
      field.filter((text) => !/^[\r]/.test(text)),
      { minLength: 2, maxLength: 4 },
    ),
  )
  fc.assert(
    fc.property(rows, fc.array(fc.integer({ min: 0, max: 40 })), (lines, cuts) => {
      const text = lines.map((line) => csvLine(line)).join('')
      const pieces: string[] = []
      let at = 0
      for (const cut of cuts) pieces.push(text.slice(at, (at += cut)))
      const read = recordsOf([...pieces, text.slice(at)])
      assert.deepEqual(
        read.map(({ fields }) => fields),
        lines,
      )
    }),
  )
})

test('lines are counted within quotes too; each record knows where it begins', () => {
  const read = recordsOf(['a,b\r\n1,"x\ny"\r\n\r\n2,"z\r\n"\n3,4'])
  assert.deepEqual(
    read.map(({ line, fields }) => [line, fields]),
    [
      [1, ['a', 'b']],
      [2, ['1', 'x\ny']],
      [5, ['2', 'z\r\n']],
      [7, ['3', '4']],
    ],
  )
})

test('a quote in the wrong place is told with its field, and the next record is read', () => {
  assert.deepEqual(fieldsOf('a,"b"c,d\n1,2,3\n'), [
    'field 2: a quote ends before the field does',
    ['1', '2', '3'],
  ])
})

test('a quote that never ends is told where it begins', () => {
  const [first, second] = recordsOf(['a,b\n1,"never\n2,3\n4,5\n'])
  assert.deepEqual(first?.fields, ['a', 'b'])
  assert.equal(second?.line, 2)
  assert.match(second.problem, /^field 2: the quote that begins here never ends/)
})

test('a field of hundreds of megabytes is left out, costs no memory, and what follows is read', () => {
  const reader = new CsvReader()
  const piece = `${'""'.repeat(1000)}${'x'.repeat(2 ** 20)}`
  assert.equal([...reader.push('a,b\n1,"')].length, 1)
  for (let count = 0; count < 200; count++) assert.equal([...reader.push(piece)].length, 0)
  const [long, next] = [...reader.push('"\n3,4\n')]
  assert.deepEqual([long?.line, long?.fields, long?.problem], [2, null, 'is longer than 32 MiB'])
  assert.deepEqual(next?.fields, ['3', '4'])
})

test('of columns that nobody wants nothing is kept, however long they are', () => {
  const reader = new CsvReader()
  reader.isWanted = (column) => column !== 1
  const text = 'x'.repeat(2 ** 20)
  const read = [...reader.push('1,"')]
  for (let count = 0; count < 40; count++) read.push(...reader.push(text))
  read.push(...reader.push('",3\n'))
  assert.deepEqual(
    read.map(({ fields }) => fields),
    [['1', '', '3']],
  )
})
