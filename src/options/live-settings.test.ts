import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gatewayOptionTable } from './gateway-options.ts'
import { type Settings, SettingError, live, readSettings } from './gateway-settings.ts'
import { specsOf } from './option-spec.ts'

const readLive = (text: string): Settings => readSettings(JSON.parse(text), live)

const accepted = [
  ['{}', {}],
  ['{"max_concurrent":1}', { max_concurrent: 1 }],
  [
    '{"max_concurrent":100000,"slot_cooldown_ms":0,"token_limit":9007199254740991}',
    { max_concurrent: 100_000, slot_cooldown_ms: 0, token_limit: Number.MAX_SAFE_INTEGER },
  ],
  ['{"raw_log":true}', { raw_log: true }],
] as const

for (const [text, expected] of accepted) {
  test(`live options are read from ${text}`, () => {
    assert.deepEqual(readLive(text), expected)
  })
}

const refused = [
  ['{"port":1}', /^port cannot be set here; these can: max_concurrent, /],
  ['{"__proto__":{"max_concurrent":1}}', /^__proto__ cannot be set here/],
  ['{"toString":1}', /^toString cannot be set here/],
  ['{"max_concurrent":0}', /max_concurrent must be a whole number from 1 to 100,000/],
  ['{"max_concurrent":100001}', /max_concurrent must be/],
  ['{"max_concurrent":1.5}', /max_concurrent must be/],
  ['{"max_concurrent":"4"}', /max_concurrent must be/],
  ['{"max_concurrent":null}', /max_concurrent must be/],
  ['{"slot_cooldown_ms":-1}', /slot_cooldown_ms must be/],
  ['{"token_limit":1e300}', /token_limit must be/],
  ['{"raw_log":"on"}', /raw_log must be true or false/],
  ['{"queue_order":"lifo"}', /queue_order must be one of fifo, fair/],
  ['{"raw_log":1}', /raw_log must be true or false/],
] as const

for (const [text, why] of refused) {
  test(`${text} is refused as live options`, () => {
    assert.throws(
      () => readLive(text),
      (error) => error instanceof SettingError && why.test(error.message),
    )
  })
}

test('live options are those of the table, within the same bounds', () => {
  const live = specsOf(gatewayOptionTable).filter(({ changes }) => changes === 'live')
  assert.equal(live.length, 8)
  for (const { name, kind, default: value } of live) {
    if (typeof value === 'boolean') {
      assert.deepEqual(readLive(JSON.stringify({ [name.replaceAll('-', '_')]: !value })), {
        [name.replaceAll('-', '_')]: !value,
      })
      continue
    }
    if (kind.choices !== undefined) {
      const settings = { [name.replaceAll('-', '_')]: kind.choices[1] }
      assert.deepEqual(readLive(JSON.stringify(settings)), settings)
      continue
    }
    if (kind.number === undefined) {
      assert.deepEqual(readLive('{"raw_log_capture":"errors"}'), { raw_log_capture: 'errors' })
      assert.throws(() => readLive('{"raw_log_capture":"some"}'), SettingError)
      continue
    }
    const { min, max } = kind.number
    const read = (value: number): object => readLive(JSON.stringify({ [name.replaceAll('-', '_')]: value }))
    assert.ok(read(min) && read(max), name)
    for (const beyond of [min - 1, max + 1]) assert.throws(() => read(beyond), SettingError)
  }
})
