import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gatewayOptionTable } from '../../src/options/gateway-options.ts'
import { specsOf, valueFacts } from '../../src/options/option-spec.ts'
import { choicesOf, editable, rangeWords, settingOf } from './option-text.ts'

test('every option of the gateway gets the control that its kind of value wants', () => {
  const kinds = specsOf(gatewayOptionTable).map((spec) => {
    const facts = valueFacts(spec)
    const { kind, min, max } = facts
    return [spec.name, kind === 'number' ? [min, max] : choicesOf(facts) === null ? 'text' : 'choice']
  })
  const longestMs = 2 ** 31 - 1
  assert.deepEqual(Object.fromEntries(kinds), {
    port: [0, 65_535],
    host: 'text',
    upstream: 'text',
    'upstream-file': 'text',
    'max-concurrent': [1, 100_000],
    'max-rpm': [0, 100_000_000],
    'max-tpm': [0, Number.MAX_SAFE_INTEGER],
    pace: 'choice',
    'slot-cooldown-ms': [0, 60_000],
    'queue-limit': [0, 1_000_000],
    'queue-order': 'choice',
    'queue-timeout-ms': [0, longestMs],
    'retry-429-max': [0, 100],
    'token-limit': [1, Number.MAX_SAFE_INTEGER],
    'budget-action': 'choice',
    db: 'text',
    'otlp-endpoint': 'text',
    'otlp-traces-endpoint': 'text',
    'keep-days': [0, 36_500],
    'keep-mb': [0, 1_048_576],
    'pid-file': 'text',
    'max-body-mb': [1, 1024],
    'connect-timeout-ms': [1, longestMs],
    'connect-retry-ms': [0, longestMs],
    'first-byte-timeout-ms': [0, longestMs],
    'idle-timeout-ms': [0, longestMs],
    'client-stall-timeout-ms': [0, longestMs],
    'drain-timeout-ms': [0, longestMs],
    via: 'choice',
    metrics: 'choice',
    'trust-loopback': 'choice',
    'usage-injection': 'choice',
    'allow-host': 'text',
    'session-header': 'text',
    share: 'choice',
    'share-days': [0, 36_500],
    'share-lease-s': [3, 3600],
    'share-lost': 'choice',
    'raw-log': 'choice',
    'raw-log-capture': 'text',
    'raw-log-max-body-kb': [1, 65_536],
    'raw-log-max-mb': [1, 1_048_576],
    'raw-log-file': 'text',
  })
})

test('several words are a choice, a switch is one of two, and anything else is a text', () => {
  assert.deepEqual(choicesOf({ kind: 'choice', choices: ['report', 'reject'] }), ['report', 'reject'])
  assert.deepEqual(choicesOf({ kind: 'switch', choices: null }), ['on', 'off'])
  assert.equal(choicesOf({ kind: 'text', choices: null }), null)
})

test('ranges in words', () => {
  // Only numbers have bounds in the text.
  const free = {
    kind: 'text',
    choices: null,
    min: null,
    max: null,
    range: 'a whole number from 1 to 9',
  } as const
  assert.equal(rangeWords(free), 'Must be a whole number from 1 to 9.')
  assert.equal(rangeWords({ ...free, kind: 'number', min: 1, max: 100_000 }), '1 to 100,000.')
  assert.equal(rangeWords({ ...free, kind: 'number', min: 1, max: Number.MAX_SAFE_INTEGER }), 'At least 1.')
  assert.equal(rangeWords({ ...free, kind: 'switch' }), '')
})

test('what is shown in a field is what the dashboard is told, and separators in numbers do no harm', () => {
  for (const value of [4, 480_000_000, 'http://127.0.0.1/v1', true, false]) {
    assert.equal(settingOf(editable({ name: 'token_limit', value }), value), value)
  }
  assert.equal(editable({ name: 'token_limit', value: 480_000_000 }), '480,000,000')
  assert.equal(editable({ name: 'port', value: 19_090 }), '19090')
  assert.equal(settingOf(' 480 000 000 ', 1), 480_000_000)
  assert.equal(settingOf('480,000', 1), 480_000)
  assert.equal(settingOf('4,5', 1), '4,5')
  assert.equal(settingOf('four', 1), 'four')
  assert.equal(settingOf('12', 'text'), '12')
  assert.equal(editable({ name: 'allow_host', value: ['a', 'b'] }), 'a, b')
})
