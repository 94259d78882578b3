import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ConfigOption } from '../../src/api/proxy-config.ts'
import { gatewayOptionTable } from '../../src/options/gateway-options.ts'
import { settingName, specsOf, valueFacts } from '../../src/options/option-spec.ts'
import { sampleOption as option } from '../../test/support/sample-option.ts'
import { groupOptions, isSame, optionTitle, sentence, shownValue, sourceWords } from './option-text.ts'

test('every option of the gateway has a title and a place', () => {
  const names = specsOf(gatewayOptionTable).map(({ name }) => name.replaceAll('-', '_'))
  const groups = groupOptions(names.map((name) => ({ ...option, name })))
  assert.equal(groups.map(({ group }) => group).join(' '), 'Limits Network Payloads Storage')
  assert.equal(groups[0]?.options[0]?.name, 'max_concurrent')
  assert.deepEqual(groups.flatMap(({ options }) => options.map(({ name }) => name)).sort(), names.sort())
  for (const name of names) assert.notEqual(optionTitle(name), name)
})

test('an option that the page does not know is shown under its name, among the others', () => {
  for (const name of ['a_new_one', 'constructor', '__proto__']) {
    assert.deepEqual(groupOptions([{ ...option, name }]), [
      { group: 'Other', options: [{ ...option, name }] },
    ])
    assert.equal(optionTitle(name), name)
  }
})

test('values are shown with their units', () => {
  const specs = specsOf(gatewayOptionTable)
  const shown = (name: string, value: ConfigOption['value']): string => {
    const spec = specs.find((one) => settingName(one.name) === name)!
    return shownValue({ name, unit: valueFacts(spec).unit, value: spec.default ?? '' }, value)
  }
  assert.equal(shown('slot_cooldown_ms', 50), '50 ms')
  assert.equal(shown('slot_cooldown_ms', 1500), '1.5 s')
  assert.equal(shown('idle_timeout_ms', 600_000), '10 min')
  assert.equal(shown('max_body_mb', 256), '256 MB')
  assert.equal(shown('raw_log_max_body_kb', 1024), '1,024 kB')
  assert.equal(shown('queue_limit', 10_000), '10,000 calls')
  assert.equal(shown('keep_days', 30), '30 days')
  assert.equal(shown('share_lease_s', 600), '600 s')
  assert.equal(shown('port', 19_090), '19090')
  assert.equal(shown('via', true), 'on')
  assert.equal(shown('allow_host', []), 'none')
  assert.equal(shown('allow_host', ['a', 'b']), 'a, b')
  assert.equal(shown('db', ''), 'none')
})

test('where a value comes from is told where it is not the program’s own', () => {
  assert.equal(sourceWords(option), '')
  assert.equal(sourceWords({ ...option, source: 'saved' }), 'Saved here.')
  assert.equal(sourceWords({ ...option, source: 'flag', fixed_by: '--port' }), 'Locked: set by --port.')
  assert.equal(sentence('address to bind'), 'Address to bind.')
  assert.ok(isSame(['a'], ['a']) && !isSame(1, 2) && isSame('x', 'x'))
})
