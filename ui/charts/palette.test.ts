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

test('of six names that are known each keeps its colour, whichever of them are shown', () => {
  const all = coloursOf(names)
  for (const name of names) {
    assert.equal(coloursOf([name], names).get(name), all.get(name))
    for (const other of names)
      assert.equal(coloursOf([name, other].reverse(), names).get(name), all.get(name))
  }
})

test('no two names of a picture have the same colour, and their order does not matter', () => {
  const colours = coloursOf(names)
  assert.equal(new Set(colours.values()).size, mostGroups)
  assert.deepEqual(coloursOf(names.toReversed()), colours)
  const more = ['one more', 'and more', 'yet another']
  assert.equal(new Set(coloursOf(names, [...names, ...more]).values()).size, mostGroups)
  assert.equal(coloursOf([...names, 'one more']).size, mostGroups + 1)
})
