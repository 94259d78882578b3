import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainAddress } from '../data/page-address.ts'
import { addressOf, mostViews, readViews, withView } from './saved-views.ts'

test('a view leads where it was saved, and a range that ends now goes on to', () => {
  const view = { name: 'Codex', address: '/calls?range=7d&client=codex&q=a%3Fb' }
  assert.deepEqual(addressOf(view), {
    ...plainAddress,
    view: 'calls',
    range: { last: '7d' },
    clients: ['codex'],
    q: 'a?b',
  })
})

test('saved under a name that there is, a view is replaced; no more are kept than fit', () => {
  const full = Array.from({ length: mostViews }, (_, at) => ({ name: `view ${at}`, address: '/' }))
  assert.equal(withView(full, 'one more', '/'), full)
  const replaced = withView(full, 'view 1', '/calls')
  assert.equal(replaced.length, mostViews)
  assert.deepEqual(replaced[1], { name: 'view 1', address: '/calls' })
  assert.deepEqual(withView([], 'first', '/'), [{ name: 'first', address: '/' }])
})

test('what the browser kept is read as far as it means anything', () => {
  const good = { name: 'good', address: '/costs?by=client' }
  const kept = [
    good,
    null,
    7,
    { name: '', address: '/' },
    { name: 'x' },
    { name: 'x', address: 'https://x.test/' },
  ]
  assert.deepEqual(readViews(JSON.stringify(kept)), [good])
  assert.deepEqual(readViews(null), [])
  assert.deepEqual(readViews('{"name":"x"}'), [])
  assert.throws(() => readViews('junk'), SyntaxError)
})
