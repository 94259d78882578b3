import { test } from 'node:test'
import { assertEmpty } from '../../test/store/any-store.ts'
import { emptyStore } from './query-service.ts'

test('without a database every answer is that of an empty one', () => assertEmpty(emptyStore))
