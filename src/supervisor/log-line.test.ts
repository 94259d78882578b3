import assert from 'node:assert/strict'
import { test } from 'node:test'
import { array, assert as holds, constantFrom, nat, property } from 'fast-check'
import { LineSplitter, cleanLine, countLines } from './log-line.ts'
import { assertWithin } from '../../test/support/assert-within.ts'

const cleaned = [
  [
    'text stays',
    'listening on http://127.0.0.1:9090 – bereit ✓',
    'listening on http://127.0.0.1:9090 – bereit ✓',
  ],
  ['colours go', '\u001b[31merror\u001b[0m', 'error'],
  ['a title and a link go', '\u001b]0;owned\u0007a \u001b]8;;http://x\u0007b\u001b]8;;\u0007', 'a b'],
  ['the screen is not cleared', '\u001b[2J\u001b[Hx', 'x'],
  ['a bell, a backspace and a return go', 'a\u0007\b\rb', 'ab'],
  ['C1 controls go', 'a\u0085\u009bb', 'ab'],
  ['line separators of JavaScript go', 'a\u2028b\u2029c', 'abc'],
  ['a tab stays', 'a\tb', 'a\tb'],
  ['NULs go', '\0\0a', 'a'],
] as const

for (const [what, line, expected] of cleaned) {
  test(`a line of the log: ${what}`, () => {
    assert.equal(cleanLine(Buffer.from(line)), expected)
  })
}

test('a long line is cut, and a hostile one takes no time', () => {
  assert.equal(cleanLine(Buffer.from('x'.repeat(100_000))).length, 8000)
  assert.equal(cleanLine(Buffer.from('ü'.repeat(100_000))).length, 8000)
  const hostile = ['\u001b]', '\u001b[', '\u001b];', '\u001b[0;', '\u009b', '\u001b]a;'].map((start) =>
    start.repeat(8000),
  )
  hostile.push(`\u001b]${';a'.repeat(4000)}`, `\u001b[${'1;'.repeat(4000)}`)
  const startedAt = performance.now()
  for (const line of hostile) cleanLine(Buffer.from(line))
  assertWithin(1000, performance.now() - startedAt, 'the line')
})

test('lines are the same however they are cut into chunks', () => {
  const text = array(constantFrom('a', 'bc', '\n', 'ü', '✓'), { maxLength: 40 })
  holds(
    property(text, array(nat({ max: 60 })), (pieces, cuts) => {
      const bytes = Buffer.from(pieces.join(''))
      const splitter = new LineSplitter()
      const lines: string[] = []
      let start = 0
      for (const end of [...cuts, bytes.length].sort((a, b) => a - b)) {
        lines.push(...splitter.push(bytes.subarray(start, end)))
        start = Math.max(start, Math.min(end, bytes.length))
      }
      assert.deepEqual(lines, bytes.toString().split('\n').slice(0, -1))
      assert.equal(countLines(bytes), lines.length)
    }),
  )
})

test('a line without end is not kept', () => {
  const splitter = new LineSplitter(Buffer.from('start '))
  const mebibyte = Buffer.alloc(1024 ** 2, 'x')
  for (let chunk = 0; chunk < 64; chunk += 1) assert.deepEqual(splitter.push(mebibyte), [])
  const [line] = splitter.push(Buffer.from('\n'))
  assert.equal(line!.length, 8000)
  assert.ok(line!.startsWith('start x'))
  assert.deepEqual(splitter.push(Buffer.from('next\n')), ['next'])
})
