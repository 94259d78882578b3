import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { makeTempDir } from '../../test/support/temp-dir.ts'
import { fileHead, openText } from './text-blocks.ts'

const chunkBytes = 65_536

async function read(path: string): Promise<{ readonly text: string; readonly problem: string }> {
  let text = ''
  try {
    for await (const block of openText(await fileHead(path)).blocks) text += block.text
    return { text, problem: '' }
  } catch (error) {
    return { text, problem: error instanceof Error ? error.message : String(error) }
  }
}

test('a file is read to the line before the first byte that is not UTF-8, wherever its chunks end', async () => {
  await using dir = await makeTempDir()
  const file = dir.file('calls.csv')
  for (const shift of [-6, -3, -2, -1, 0, 1]) {
    const before = `${'x'.repeat(chunkBytes + shift - 1)}\n`
    writeFileSync(file, `${before}\u{1f600}\u20ac\n`)
    assert.deepEqual(await read(file), { text: `${before}\u{1f600}\u20ac\n`, problem: '' }, String(shift))
    const bad = [Buffer.from('good\n\u20ac'), Buffer.from([0xe2, 0x82]), Buffer.from('\nlost\n')]
    writeFileSync(file, Buffer.concat([Buffer.from(before), ...bad]))
    const { text, problem } = await read(file)
    assert.equal(text, `${before}good\n`, String(shift))
    assert.match(problem, /^line 3 has bytes that are not UTF-8/)
  }
})

test('a file that ends within a character is read to that line', async () => {
  await using dir = await makeTempDir()
  writeFileSync(dir.file('cut.csv'), Buffer.concat([Buffer.from('\uFEFFa\nb'), Buffer.from([0xf0, 0x9f])]))
  const { text, problem } = await read(dir.file('cut.csv'))
  assert.equal(text, 'a\n')
  assert.match(problem, /^line 2 has bytes/)
})
