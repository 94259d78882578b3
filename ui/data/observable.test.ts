import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Observable } from './observable.ts'

test('who watches is told of each other value, until they leave', () => {
  const observable = new Observable('a')
  const values: string[] = []
  const leave = observable.watch((value) => values.push(value))
  observable.set('b')
  observable.set('b')
  observable.set('c')
  leave()
  observable.set('d')
  assert.deepEqual([values, observable.current], [['b', 'c'], 'd'])
})
