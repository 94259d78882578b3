import assert from 'node:assert/strict'
import { test } from 'node:test'
import { coloursOf, mostGroups } from './palette.ts'

const names = ['gpt-5-mini', 'claude-sonnet-4', 'llama-3.3-70b', 'qwen3', 'text-embedding-3-small', 'o4']

test('a name has the same colour alone and beside another one whose colour is not the same', () => {
  const own = (name: string): unknown => coloursOf([name]).get(name)
  assert.ok(new Set(names.map(own)).size > 2)
  for (const name of names) {
    for (const other of names.filter((one) => own(one) !== own(name)))
      assert.equal(coloursOf([name, other]).get(name), own(name))
  }
})

test('no two names of a picture have the same colour, and their order does not matter', () => {
  const colours = coloursOf(names)
  assert.equal(new Set(colours.values()).size, mostGroups)
  assert.deepEqual(coloursOf(names.toReversed()), colours)
  assert.equal(coloursOf([...names, 'one more']).size, mostGroups + 1)
})
