import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Watched } from './watched.ts'

test('who watches is told of each other value, until they leave', () => {
  const watched = new Watched('a')
  const told: string[] = []
  const leave = watched.watch((value) => told.push(value))
  watched.set('b')
  watched.set('b')
  watched.set('c')
  leave()
  watched.set('d')
  assert.deepEqual([told, watched.current], [['b', 'c'], 'd'])
})
