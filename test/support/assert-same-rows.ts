import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'

const shown = 5

/**
 * Like `deepEqual`, for lists that may be long: it tells counts and the first differences. To print the whole
 * difference of two long lists takes gigabytes.
 */
export function assertSameRows(actual: readonly unknown[], expected: readonly unknown[], message = ''): void {
  const lines: string[] = []
  for (let index = 0; index < Math.max(actual.length, expected.length) && lines.length < shown; index++) {
    const [got, wanted] = [actual[index], expected[index]]
    if (index >= actual.length || index >= expected.length || !isDeepStrictEqual(got, wanted)) {
      lines.push(`  at ${index}: got ${textOf(got)}, expected ${textOf(wanted)}`)
    }
  }
  if (lines.length === 0) return
  const counts = `${actual.length} rows, expected ${expected.length}; the first differences:`
  assert.fail([`${message}${message === '' ? '' : ': '}${counts}`, ...lines].join('\n'))
}

function textOf(row: unknown): string {
  return (JSON.stringify(row) ?? 'none').slice(0, 500)
}
