import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Observable } from './observable.ts'

test('who watches is told of each other value, until they leave', () => {
  const observable = new Observable('a')
  const told: string[] = []
  const leave = observable.watch((value) => told.push(value))
  observable.set('b')
  observable.set('b')
  observable.set('c')
  leave()
  observable.set('d')
  assert.deepEqual([told, observable.current], [['b', 'c'], 'd'])
})
