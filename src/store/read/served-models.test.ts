import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { chatCall } from '../../../test/store/sample-call.ts'
import { makeTempDir } from '../../../test/support/temp-dir.ts'
import { idsPerMs } from '../../call/call-id.ts'
import { openCallReader } from './call-query.ts'
import { writeCalls } from '../../../test/store/write-calls.ts'

test('every call is counted under who answered it, and where time is short the newest are', async () => {
  await using directory = await makeTempDir()
  const path = join(directory.path, 'calls.db')
  const [firstMs, hourMs] = [Date.UTC(2026, 10, 21), 3_600_000]
  writeCalls(
    path,
    Array.from({ length: 10 }, (_, index) => ({
      ...chatCall((firstMs + index * hourMs) * idsPerMs),
      upstream: index < 7 ? 'one.example' : 'other.example',
    })),
  )
  const reader = openCallReader(path)
  assert.ok(typeof reader !== 'string')
  const counted = async (withinMs: number): Promise<readonly unknown[]> => {
    const { fromMs, models } = await reader.servedModels(firstMs, firstMs + 9 * hourMs + 1, withinMs)
    return [fromMs, ...models.map(({ upstream, calls }) => [upstream, calls])]
  }
  assert.deepEqual(await counted(60_000), [firstMs, ['one.example', 7], ['other.example', 3]])
  // A quarter of an hour is the least.
  assert.deepEqual(await counted(0), [firstMs + 9 * hourMs + 1 - hourMs / 4, ['other.example', 1]])
  reader.close()
})
