import assert from 'node:assert/strict'
import { test } from 'node:test'
import { blocksOf, spansOf } from './markdown.ts'

test('fences, headings and lists are blocks, all else stays as it was written', () => {
  assert.deepEqual(
    blocksOf(
      '\n## Plan\n\nFirst\n  <b>this</b>\n\n- one\n  * two\n3. three\n\n```ts\n# no heading\n- no item\n```\nEnd\n\n',
    ),
    [
      { kind: 'heading', text: 'Plan' },
      { kind: 'text', text: 'First\n  <b>this</b>' },
      { kind: 'item', mark: '•', depth: 0, text: 'one' },
      { kind: 'item', mark: '•', depth: 1, text: 'two' },
      { kind: 'item', mark: '3.', depth: 0, text: 'three' },
      { kind: 'code', language: 'ts', text: '# no heading\n- no item' },
      { kind: 'text', text: 'End' },
    ],
  )
  for (const text of ['#hash', '-5 degrees', '*emphasis*', '1.5 times', '| a | b |', 'a ``` b', '---']) {
    assert.deepEqual(blocksOf(text), [{ kind: 'text', text }], text)
  }
  assert.deepEqual(blocksOf(''), [])
})

test('a fence that is not closed goes to the end, and a longer one holds a shorter', () => {
  assert.deepEqual(blocksOf('~~~\nx\n```'), [{ kind: 'code', language: '', text: 'x\n```' }])
  assert.deepEqual(blocksOf('````md\n```\nx\n```\n````'), [
    { kind: 'code', language: 'md', text: '```\nx\n```' },
  ])
})

test('within a line there are code and strong words, and code is not read', () => {
  assert.deepEqual(spansOf('run `a **b**` or **c** __init__ 2 ** 3 ** 4'), [
    { kind: 'plain', text: 'run ' },
    { kind: 'code', text: 'a **b**' },
    { kind: 'plain', text: ' or ' },
    { kind: 'strong', text: 'c' },
    { kind: 'plain', text: ' __init__ 2 ** 3 ** 4' },
  ])
})

test('a long text of nothing but marks takes no time', () => {
  for (const mark of ['`', '*', '**a ', '```\n', '#', '- ', '# a\n', ' ', '\n']) {
    const text = `# ${mark.repeat(200_000 / mark.length)}\n\`\`\`${' '.repeat(200_000)}\``
    const beganMs = performance.now()
    for (const block of blocksOf(text)) spansOf(block.text)
    const tookMs = performance.now() - beganMs
    assert.ok(tookMs < 2000, `${JSON.stringify(mark)}: ${tookMs} ms`)
  }
})
