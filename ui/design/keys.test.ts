import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type KeyPlace, type KeyPress, KeySequence, isOfCharacters, shortcutKeyOf } from './keys.ts'

const press = (key: string, rest: Partial<KeyPress> = {}): KeyPress => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  isComposing: false,
  defaultPrevented: false,
  ...rest,
})
const on = (tagName: string, isContentEditable = false): KeyPlace => ({ tagName, isContentEditable })

test('a key is a shortcut unless it is meant for something else', () => {
  const cases: readonly (readonly [press: KeyPress, place: KeyPlace | null, key: string | null])[] = [
    [press('m'), null, 'm'],
    [press('m'), on('BODY'), 'm'],
    [press('m'), on('BUTTON'), 'm'],
    [press('?'), on('A'), '?'],
    [press('m'), on('INPUT'), null],
    [press('m'), on('TEXTAREA'), null],
    [press('m'), on('SELECT'), null],
    [press('m'), on('DIV', true), null],
    [press('r', { ctrlKey: true }), null, null],
    [press('k', { ctrlKey: true }), on('INPUT'), 'Ctrl+k'],
    [press('K', { metaKey: true }), null, 'Ctrl+k'],
    [press('k', { ctrlKey: true, altKey: true }), null, null],
    [press('r', { metaKey: true }), null, null],
    [press('r', { altKey: true }), null, null],
    [press('r', { isComposing: true }), null, null],
    [press('r', { defaultPrevented: true }), null, null],
    [press('Enter'), on('BODY'), 'Enter'],
    [press('Enter'), on('A'), null],
    [press('Escape'), on('BUTTON'), 'Escape'],
    [press('Escape'), on('INPUT'), null],
    [press(' '), null, ' '],
    [press(' '), on('A'), ' '],
    [press(' '), on('BUTTON'), null],
    [press(' '), on('SUMMARY'), null],
    // Modifier keys are held down for the next key.
    [press('Shift'), on('BODY'), null],
    [press('CapsLock'), null, null],
  ]
  for (const [pressed, place, key] of cases) {
    assert.equal(shortcutKeyOf(pressed, place), key, JSON.stringify([pressed, place]))
  }
})

test('g leads the key after it, for a moment', () => {
  const keys = new KeySequence()
  assert.equal(keys.next('m', 0), 'm')
  assert.equal(keys.next('g', 10), null)
  assert.equal(keys.next('o', 1510), 'g o')
  assert.equal(keys.next('o', 1520), 'o')
  assert.equal(keys.next('g', 2000), null)
  assert.equal(keys.next('o', 3501), 'o')
  assert.equal(keys.next('g', 4000), null)
  assert.equal(keys.next('g', 4001), 'g g')
})

test('only what is made of characters can be switched off', () => {
  assert.deepEqual(['m', '?', 'g o', 'Enter', 'g Enter'].map(isOfCharacters), [
    true,
    true,
    true,
    false,
    false,
  ])
})
