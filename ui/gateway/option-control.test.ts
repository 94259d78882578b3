import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gatewayOptionTable } from '../../src/options/gateway-options.ts'
import { specsOf, valueFacts } from '../../src/options/option-spec.ts'
import { fieldsOf } from '../../test/support/fields-of.ts'
import { choicesOf, editable, rangeWords, settingOf } from './option-text.ts'

test('every option of the gateway gets the control that its kind of value wants', () => {
  const facts = specsOf(gatewayOptionTable).map((spec) =>
    Object.assign(valueFacts(spec), { name: spec.name }),
  )
  const controls = Object.groupBy(facts, (each) =>
    each.kind === 'number' ? 'number' : choicesOf(each) === null ? 'text' : 'choice',
  )
  const named = (control: keyof typeof controls): unknown => new Set(fieldsOf(controls[control]!, 'name'))
  const lists = 'allow-host session-header otlp-endpoint otlp-traces-endpoint raw-log-capture'
  const texts = `host upstream upstream-file db pid-file raw-log-file ${lists}`
  assert.deepEqual(named('text'), new Set(texts.split(' ')))
  const switches = 'via metrics trust-loopback usage-injection share share-lost raw-log'
  assert.deepEqual(named('choice'), new Set(`pace queue-order budget-action ${switches}`.split(' ')))
  const bounds = controls.number!.map(({ name, min, max }) => [name, `${min}-${max}`])
  assert.equal(bounds.length, 22)
  const some = { port: '0-65535', 'max-concurrent': '1-100000', 'drain-timeout-ms': `0-${2 ** 31 - 1}` }
  assert.partialDeepStrictEqual(Object.fromEntries(bounds), some)
})

test('several words are a choice, a switch is one of two, and anything else is a text', () => {
  assert.deepEqual(choicesOf({ kind: 'choice', choices: ['report', 'reject'] }), ['report', 'reject'])
  assert.deepEqual(choicesOf({ kind: 'switch', choices: null }), ['on', 'off'])
  assert.equal(choicesOf({ kind: 'text', choices: null }), null)
})

test('ranges in words', () => {
  // Only numbers have bounds in the text.
  const range = 'a whole number from 1 to 9'
  const free = { kind: 'text', choices: null, min: null, max: null, range } as const
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
