import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorInWords } from './postgres.ts'

const addresses: readonly [url: string, password: string][] = [
  ['postgres://weir:p%40ss%2Fw@db.example.com/calls', 'p@ss/w'],
  ['postgres://weir:p@ss@db.example.com/calls', 'p@ss'],
  ['postgres://weir:50%off@db.example.com/calls', '50%off'],
  ['postgres://weir:hidden@/calls?host=/var/run/postgresql', 'hidden'],
]

for (const [url, password] of addresses) {
  test(`an error is told without the password of ${url}`, () => {
    const told = errorInWords(new Error(`terminated: ${password}`), url)
    assert.match(told, /answers: terminated: …$/)
  })
}

test('an address without a password hides nothing', () => {
  assert.match(errorInWords(new Error('gone'), 'postgres://db.example.com/calls'), /answers: gone$/)
  assert.match(errorInWords(new Error('gone'), 'no address'), /answers: gone$/)
})
