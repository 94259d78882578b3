import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { tryFileLock } from '../lib/files/file-lock.ts'
import { parseOptions } from '../cli/parse-options.ts'
import { type GatewayValues, gatewayOptionTable } from '../options/gateway-options.ts'
import { argumentsOf } from '../options/option-spec.ts'
import { SettingError, settingsOf } from '../options/gateway-settings.ts'
import { GatewayConfig } from './gateway-config.ts'

const defaultUpstream = gatewayOptionTable.upstream.default

interface Given {
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** The content of `gateway.json`. */
  readonly saved?: string
  readonly ownPort?: number
  readonly hasKey?: boolean
}

/** A configuration over a settings file of its own, which is gone afterwards. */
async function withConfig(
  given: Given,
  use: (config: GatewayConfig, path: string) => void | Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tokenweir-'))
  try {
    const path = join(folder, 'gateway.json')
    if (given.saved !== undefined) writeFileSync(path, given.saved)
    const options = parseOptions(gatewayOptionTable, given.args ?? [], given.env ?? {})
    const address = { port: given.ownPort ?? 9118 }
    await use(new GatewayConfig(options, path, address, given.hasKey ?? false), path)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The settings that a gateway of these values tells: its files by their full paths. */
function runningAs(values: GatewayValues): ReturnType<typeof settingsOf> {
  const [db, pid_file, raw_log_file] = [values.db, values.pidFile, values.rawLogFile].map((path) =>
    resolve(path),
  )
  return { ...settingsOf(values), db: db!, pid_file: pid_file!, raw_log_file: raw_log_file! }
}

const saved = '{"max_concurrent":5}'
const env = { TOKENWEIR_MAX_CONCURRENT: '6' }
const maxConcurrent: readonly (readonly [
  what: string,
  Given,
  number,
  source: string,
  fixedBy: string | null,
])[] = [
  ['the default', {}, 4, 'default', null],
  ['what was saved, before the default', { saved }, 5, 'saved', null],
  ['the environment, before what was saved', { saved, env }, 6, 'environment', 'TOKENWEIR_MAX_CONCURRENT'],
  ['the flag, before all', { saved, env, args: ['--max-concurrent=7'] }, 7, 'flag', '--max-concurrent'],
]

for (const [what, given, value, source, fixedBy] of maxConcurrent) {
  test(`the gateway is started with ${what}`, () => {
    return withConfig(given, (config) => {
      const values = config.resolve()
      assert.equal(values.maxConcurrent, value)
      assert.ok(argumentsOf(gatewayOptionTable, values).includes(`--max-concurrent=${value}`))
      const option = config.describe(null).options.find(({ name }) => name === 'max_concurrent')
      assert.deepEqual([option?.value, option?.source, option?.fixed_by], [value, source, fixedBy])
    })
  })
}

test('every option is an argument, so that no variable can change one', () => {
  return withConfig(
    { args: ['--allow-host=a.example', '--allow-host=b.example', '--session-header=x-run'] },
    (config) => {
      const values = config.resolve()
      const args = argumentsOf(gatewayOptionTable, values)
      assert.deepEqual(
        { ...parseOptions(gatewayOptionTable, args, { TOKENWEIR_PORT: '1' }) }.port,
        values.port,
      )
      const again = parseOptions(gatewayOptionTable, args, {})
      for (const key of Object.keys(gatewayOptionTable) as (keyof typeof gatewayOptionTable)[]) {
        assert.deepEqual(again[key], values[key], key)
        // A list that is empty has nothing to mention.
        assert.equal(again.setBy[key], `--${gatewayOptionTable[key].name}`, key)
      }
    },
  )
})

/** Settings with the code of their refusal, which names the first of them. */
const refused: readonly (readonly [
  what: string,
  wanted: Readonly<Record<string, unknown>>,
  code: string,
  message: RegExp,
  given?: Given,
])[] = [
  ['an unknown name', { nonsense: 1 }, 'unknown_setting', /max_concurrent/],
  ['a name of JavaScript', JSON.parse('{"__proto__":1}'), 'unknown_setting', /cannot be set/],
  ['the database', { db: '/tmp/x.db' }, 'unknown_setting', /cannot be set here/],
  ['the PID file', { pid_file: '/tmp/x' }, 'unknown_setting', /cannot be set here/],
  ['the name as a flag', { 'max-concurrent': 1 }, 'unknown_setting', /cannot be set/],
  ['a value out of range', { max_concurrent: 0 }, 'invalid_setting', /from 1 to 100,000; got 0/],
  ['a number as text', { max_concurrent: '5' }, 'invalid_setting', /got "5"/],
  ['a fraction', { max_concurrent: 1.5 }, 'invalid_setting', /got 1\.5/],
  ['null', { max_concurrent: null }, 'invalid_setting', /got null/],
  ['nothing', { max_concurrent: undefined }, 'invalid_setting', /got nothing/],
  ['an upstream with a password', { upstream: 'http://u:p@x/v1' }, 'invalid_setting', /URL/],
  ['an upstream of another scheme', { upstream: 'file:///etc' }, 'invalid_setting', /http/],
  ['a host that is an option', { host: '--x y' }, 'invalid_setting', /address/],
  ['the dashboard', { upstream: 'http://localhost:9118/v1' }, 'invalid_setting', /must not be the dashboard/],
  [
    'what a flag fixes',
    { max_concurrent: 5 },
    'fixed_setting',
    /fixed by --max-concurrent/,
    { args: ['--max-concurrent=7'] },
  ],
  [
    'what a variable fixes',
    { port: 5 },
    'fixed_setting',
    /fixed by TOKENWEIR_PORT/,
    { env: { TOKENWEIR_PORT: '7' } },
  ],
]

for (const [what, wanted, code, message, given = {}] of refused) {
  test(`as a setting, ${what} is refused`, () =>
    withConfig(given, (config) => {
      assert.throws(
        () => config.check(wanted),
        (error) => {
          assert.ok(error instanceof SettingError)
          assert.deepEqual([error.code, error.param], [code, Object.keys(wanted)[0]])
          assert.match(error.message, message)
          return true
        },
      )
    }))
}

const broken = [
  ['no JSON', '{', 'broken_settings_file'],
  ['a list', '[]', 'broken_settings_file'],
  ['null', 'null', 'broken_settings_file'],
  ['an unknown name', '{"nonsense":1}', 'unknown_setting'],
  ['a wrong value', '{"max_concurrent":-1}', 'invalid_setting'],
  ['what cannot be set', '{"db":"x"}', 'unknown_setting'],
] as const

for (const [what, saved, code] of broken) {
  test(`a settings file with ${what} is an error that names the file`, () => {
    return withConfig({ saved }, async (config, path) => {
      const isNamed = (error: unknown): boolean =>
        error instanceof SettingError && error.code === code && error.message.includes(path)
      assert.throws(() => config.resolve(), isNamed)
      assert.throws(() => config.describe(null), isNamed)
      await assert.rejects(config.save({ max_concurrent: 1 }), isNamed)
      assert.equal(readFileSync(path, 'utf8'), saved)
    })
  })
}

test('settings are kept on top of those that are kept, and for their owner alone', () => {
  return withConfig({ saved: '{"max_concurrent":5,"port":1}' }, async (config, path) => {
    await config.save({ max_concurrent: 6 })
    assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), { max_concurrent: 6, port: 1 })
    assert.equal(statSync(path).mode & 0o777, 0o600)
    assert.equal(config.resolve({ port: 2 }).port, 2)
    assert.equal(config.resolve().port, 1)
  })
})

test('settings are kept by one process at a time, and none is lost', () => {
  return withConfig({ saved }, async (config, path) => {
    const lock = tryFileLock(`${path}.lock`) ?? assert.fail('somebody has the lock')
    const saving = config.save({ token_limit: 7 })
    // Another process writes under the lock.
    writeFileSync(path, '{"max_concurrent":6,"port":1}')
    lock[Symbol.dispose]()
    await saving
    assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), { max_concurrent: 6, port: 1, token_limit: 7 })
  })
})

test('keeping nothing makes no file', () => {
  return withConfig({}, async (config, path) => {
    await config.save({})
    assert.throws(() => readFileSync(path), { code: 'ENOENT' })
  })
})

const [x, y] = ['http://x.example/v1', 'http://y.example/v1']
const savedUpstream = (upstream: string): Given => ({ saved: JSON.stringify({ upstream }) })
const keys: readonly (readonly [what: string, Given, 'lent' | 'withheld'])[] = [
  ['the default upstream', {}, 'lent'],
  ['an upstream by flag', { args: [`--upstream=${x}`] }, 'lent'],
  ['an upstream by variable', { env: { TOKENWEIR_UPSTREAM: x } }, 'lent'],
  ['a saved upstream', savedUpstream(x), 'withheld'],
  ['a saved one that is the default', savedUpstream(defaultUpstream), 'lent'],
  ['a saved one of the default host', savedUpstream(`${defaultUpstream}/beta`), 'lent'],
  ['a saved one that only looks so', savedUpstream('https://api.openai.com.evil.example/v1'), 'withheld'],
  ['a flag over a saved one', { ...savedUpstream(x), args: [`--upstream=${y}`] }, 'lent'],
]

for (const [what, given, expected] of keys) {
  test(`the upstream's key with ${what} is ${expected}`, async () => {
    await withConfig({ ...given, hasKey: true }, (config) => {
      assert.equal(config.trusts(config.resolve().upstream), expected === 'lent')
      assert.equal(config.describe(null).upstream_key, expected)
    })
    await withConfig(given, (config) => assert.equal(config.describe(null).upstream_key, 'absent'))
  })
}

test('what differs from the running gateway needs a restart', () => {
  return withConfig({ saved }, (config) => {
    const running = runningAs(config.resolve())
    assert.deepEqual(config.describe(running).needs_restart, [])
    const other = { ...running, upstream: 'http://x.example/v1', allow_host: ['x.example'] }
    assert.deepEqual(config.describe(other).needs_restart.toSorted(), ['allow_host', 'upstream'])
    assert.deepEqual(config.describe(null).needs_restart, [])
  })
})

test('a gateway on any free port is on the right one', () => {
  return withConfig({ args: ['--port=0'] }, (config) => {
    const running = { ...runningAs(config.resolve()), port: 40_123 }
    assert.deepEqual(config.describe(running).needs_restart, [])
  })
})

test('what a gateway tells of itself bears the names of the settings', () => {
  return withConfig({}, (config) => {
    const { options } = config.describe(null)
    assert.equal(Object.keys(settingsOf(config.resolve())).join(), options.map(({ name }) => name).join())
  })
})

test('options of a few words name them, and can be set by them', () => {
  return withConfig({}, (config) => {
    const named = config.describe(null).options.filter(({ choices }) => choices !== null)
    assert.deepEqual(Object.fromEntries(named.map(({ name, choices }) => [name, choices])), {
      queue_order: ['fifo', 'fair'],
      pace: ['off', 'learn'],
      budget_action: ['report', 'reject'],
      usage_injection: ['auto', 'off'],
      share_lost: ['keep', 'cut'],
    })
    const settings = { budget_action: 'reject', retry_429_max: 3 }
    const values = config.resolve(config.check(settings))
    const args = argumentsOf(gatewayOptionTable, values)
    assert.deepEqual([values.budgetAction, values.retry429Max], ['reject', 3])
    assert.ok(args.includes('--budget-action=reject') && args.includes('--retry-429-max=3'))
    assert.throws(
      () => config.check({ budget_action: 'refuse' }),
      /budget_action must be one of report, reject/,
    )
    assert.throws(() => config.check({ retry_429_max: 101 }), /from 0 to 100/)
  })
})
