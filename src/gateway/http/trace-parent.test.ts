import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTraceParent } from './trace-parent.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const spanId = '00f067aa0ba902b7'
const sampled = { traceId, spanId }

const cases = [
  [`00-${traceId}-${spanId}-01`, sampled],
  [`00-${traceId}-${spanId}-00`, { traceId, spanId: null }],
  [`00-${traceId}-${spanId}-02`, { traceId, spanId: null }],
  [`00-${traceId}-${spanId}-ff`, sampled],
  [`01-${traceId}-${spanId}-01`, sampled],
  [`cc-${traceId}-${spanId}-01-what-the-future-brings`, sampled],
  [`cc-${traceId}-${spanId}-01.what-the-future-brings`, null],
  [`00-${traceId}-${spanId}-01-`, null],
  [`00-${traceId}-${spanId}-01-more`, null],
  [`ff-${traceId}-${spanId}-01`, null],
  [`00-${'0'.repeat(32)}-${spanId}-01`, null],
  [`00-${traceId}-${'0'.repeat(16)}-01`, null],
  [`00-${traceId.toUpperCase()}-${spanId}-01`, null],
  [`00-${traceId.slice(1)}-${spanId}-01`, null],
  [`00-${traceId}-${spanId}-1`, null],
  [`00-${traceId}-${spanId}`, null],
  [` 00-${traceId}-${spanId}-01`, null],
  [`00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`, null],
  ['', null],
] as const

for (const [header, expected] of cases) {
  test(`traceparent ${JSON.stringify(header)}`, () => assert.deepEqual(parseTraceParent(header), expected))
}
