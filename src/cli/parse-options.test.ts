import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gatewayCommandTable } from '../options/dashboard-options.ts'
import { gatewayOptionTable, type GatewayValues } from '../options/gateway-options.ts'
import { envName, type Options, shownDefault, sourceOf, specsOf } from '../options/option-spec.ts'
import { helpOf } from './help.ts'
import { type Environment, OptionError, parseOptions } from './parse-options.ts'

function parseGatewayOptions(argv: readonly string[], env: Environment): Options<GatewayValues> {
  return parseOptions(gatewayOptionTable, argv, env)
}

function refusal(argv: readonly string[], env = {}): string {
  let message = ''
  assert.throws(
    () => parseGatewayOptions(argv, env),
    (error) => {
      assert.ok(error instanceof OptionError)
      message = error.message
      return true
    },
  )
  assert.doesNotMatch(message, /\n/)
  return message
}

describe('parseGatewayOptions', () => {
  it('gives every default', () => {
    const { setBy, ...values } = parseGatewayOptions([], {})
    const specs = Object.entries<{ readonly default: unknown }>(gatewayOptionTable)
    assert.deepEqual(values, Object.fromEntries(specs.map(([name, spec]) => [name, spec.default])))
    assert.deepEqual(new Set(Object.values(setBy)), new Set([null]))
    assert.deepEqual(Object.keys(setBy), Object.keys(gatewayOptionTable))
  })

  it('takes a flag before the environment, and that before the default, and remembers which', () => {
    const env = { TOKENWEIR_MAX_CONCURRENT: '7', TOKENWEIR_DB: 'env.db', TOKENWEIR_HOST: '' }
    const options = parseGatewayOptions(['--max-concurrent', '9', '--pid-file=x.pid'], env)
    const { maxConcurrent, db, host, setBy } = options
    assert.deepEqual([maxConcurrent, db, host], [9, 'env.db', '0.0.0.0'])
    // An empty variable counts as unset.
    const sources = [setBy.maxConcurrent, setBy.pidFile, setBy.db, setBy.host]
    assert.deepEqual(sources, ['--max-concurrent', '--pid-file', 'TOKENWEIR_DB', null])
    assert.deepEqual(sources.map(sourceOf), ['flag', 'flag', 'environment', 'default'])
  })

  it('takes the port from either of its variables', () => {
    assert.equal(parseGatewayOptions([], { TOKENWEIR_PORT: '1' }).port, 1)
    assert.equal(parseGatewayOptions([], { TOKENWEIR_GATEWAY_PORT: '2' }).port, 2)
    assert.equal(parseGatewayOptions([], { TOKENWEIR_PORT: '1', TOKENWEIR_GATEWAY_PORT: '2' }).port, 2)
  })

  it('understands every kind of value', () => {
    const one = (...argv: readonly string[]): ReturnType<typeof parseGatewayOptions> =>
      parseGatewayOptions(argv, {})
    assert.equal(one('--port', '0').port, 0)
    assert.equal(one('--via', 'off').via, false)
    assert.equal(one('--via', 'off', '--via', 'on').via, true, 'the last mention counts')
    assert.equal(one('--host', '[::1]').host, '::1')
    assert.equal(one('--host', 'localhost').host, 'localhost')
    assert.equal(one('--upstream', 'http://localhost:11434').upstream, 'http://localhost:11434')
    assert.equal(one('--upstream', 'https://host/api/v3/').upstream, 'https://host/api/v3/')
    assert.equal(one('--token-limit', '9007199254740991').tokenLimit, Number.MAX_SAFE_INTEGER)
    assert.deepEqual(one('--allow-host', 'A.example', '--allow-host', 'b,c').allowHost, [
      'a.example',
      'b',
      'c',
    ])
    assert.deepEqual(parseGatewayOptions([], { TOKENWEIR_ALLOW_HOST: 'a, b' }).allowHost, ['a', 'b'])
  })

  it('names the option, the range and the value got when a value is wrong', () => {
    assert.equal(
      refusal(['--max-concurrent', '0']),
      '--max-concurrent must be a whole number from 1 to 100,000; got "0"',
    )
    assert.equal(
      refusal([], { TOKENWEIR_PORT: '65536' }),
      'TOKENWEIR_PORT (--port) must be a whole number from 0 to 65,535; got "65536"',
    )
    const wrong: Readonly<Record<string, readonly string[]>> = {
      '--port': ['-1', '1.5', '0x10', ' 1', '', 'http'],
      '--slot-cooldown-ms': ['1e3'],
      '--queue-timeout-ms': ['2147483648'],
      '--connect-timeout-ms': ['0'],
      '--token-limit': ['9007199254740992'],
      '--max-body-mb': ['1025'],
      '--via': ['yes'],
      '--host': ['a b', ''],
      '--db': [''],
      '--upstream': [
        'localhost:11434',
        'ftp://host',
        'http://',
        'https://host/v1?api_key=x',
        'https://host/v1/chat/completions',
        'https://host/v1#x',
      ],
      '--allow-host': ['http://host', 'host:9090'],
      '--budget-action': ['refuse'],
      '--retry-429-max': ['101', '-1'],
    }
    const pairs = Object.entries(wrong).flatMap(([flag, values]) =>
      values.map((value) => [flag, value] as const),
    )
    for (const [flag, value] of pairs) {
      const message = refusal([flag, value])
      assert.ok(message.startsWith(`${flag} must be `), message)
      assert.ok(message.endsWith(`; got ${JSON.stringify(value)}`), message)
    }
  })

  it('takes a switch alone, with its value, and from the environment', () => {
    const taken = (argv: readonly string[], env = {}): boolean => parseGatewayOptions(argv, env).rawLog
    assert.deepEqual(
      [taken([]), taken(['--raw-log']), taken(['--raw-log', 'off']), taken(['--raw-log=on'])],
      [false, true, false, true],
    )
    assert.equal(taken(['--raw-log', '--port', '1']), true)
    assert.equal(taken(['--raw-log', '--raw-log=off']), false)
    assert.equal(taken([], { TOKENWEIR_RAW_LOG: 'on' }), true)
    assert.equal(taken(['--raw-log=off'], { TOKENWEIR_RAW_LOG: 'true' }), false)
    assert.match(refusal(['--raw-log', 'maybe']), /^--raw-log must be on or off; got "maybe"$/)
  })

  it('names the forms of a rule of capture', () => {
    assert.match(
      refusal(['--raw-log-capture', 'some']),
      /must be all, errors, or sample:1\/<n> .* sample:1\/10/,
    )
  })

  it('does not repeat a password', () => {
    assert.doesNotMatch(refusal(['--upstream', 'https://me:hunter2@host/v1']), /hunter2|me:/)
  })

  it('refuses what it does not know', () => {
    assert.equal(refusal(['--prot', '1']), "unknown option '--prot' (Did you mean --port?)")
    assert.match(refusal(['serve']), /takes options alone; got "serve"/)
    assert.match(refusal(['--port']), /'--port <n>' argument missing/)
  })

  it('has a variable of its own for every option', () => {
    // TOKENWEIR_SHARE is the address of what is shared, and no switch.
    const { share, ...others } = gatewayOptionTable
    assert.deepEqual(share.env, [])
    for (const { env, name } of Object.values(others)) assert.ok(env.includes(envName(name)), name)
  })
})

it('a default is shown where there is one: none would be read as the value none', () => {
  const defaults = [null, [], 'none', ['a', 'b'], false, 0].map(shownDefault)
  assert.deepEqual(defaults, [null, null, 'none', 'a, b', 'off', '0'])
})

it('--help says what docs/options.md says', () => {
  const help = helpOf({ name: 'gateway', description: 'x', options: gatewayCommandTable, example: 'x' })
    .configureHelp({ helpWidth: 1000 })
    .helpInformation()
  for (const { name, kind, default: value, description } of specsOf(gatewayCommandTable)) {
    const flag = `--${name} ${kind.placeholder}`
    const line = help.split('\n').find((each) => each.trim().startsWith(`${flag} `))
    const shown = shownDefault(value)
    const expected = `${flag}  ${description}${shown === null ? '' : ` (default: ${shown})`}`
    assert.equal(line?.trim().replace(/ {2,}/, '  '), expected)
  }
})
