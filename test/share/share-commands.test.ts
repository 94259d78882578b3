import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startCommandProcess } from '../support/command-process.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { asRecord } from '../support/json-record.ts'
import { type Postgres, startPostgres } from '../support/postgres.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const nobody = 'http://127.0.0.1:9'
let postgres: Postgres

before(async () => {
  postgres = await startPostgres()
})
after(() => postgres[Symbol.asyncDispose]())

/** Runs a command in an empty folder: its exit code and all that it said. */
async function run(address: string, args: readonly string[]) {
  await using folder = await makeTempDir()
  const env = { TOKENWEIR_SHARE: address }
  await using command = startCommandProcess({ args, directory: folder.path, env })
  const { code } = await command.exited
  return { code, text: command.stdout + command.stderr }
}

async function shareFinding(address: string, args: readonly string[]): Promise<string> {
  const ports = ['--port', '0', '--dashboard-port', '0', '--upstream', nobody]
  const { text } = await run(address, ['doctor', ...ports, ...args])
  return text.split('\n').find((line) => line.includes('sharing')) ?? 'nothing of sharing'
}

test('the doctor looks whether a gateway can share', async () => {
  const url = await postgres.database('doctor')
  const port = new URL(url).port
  const found: readonly (readonly [address: string, args: readonly string[], finding: RegExp])[] = [
    [url, ['--share'], /^✓ sharing .* answers; the first gateway makes the schema tokenweir$/],
    [url, [], /^! sharing .* --share is not: nothing is shared → start with --share/],
    ['', ['--share'], /^✗ sharing .* set the variable TOKENWEIR_SHARE/],
    ['postgres://u:p@ss#1@db/d', ['--share'], /^✗ sharing .* percent-encode .*@ is %40/],
    ['postgres://u:p@127.0.0.1:9/d', ['--share'], /^✗ sharing .* 127\.0\.0\.1:9\/d refuses connections/],
    [
      `postgres://tokenweir@127.0.0.1:${port}/nosuch`,
      ['--share'],
      /^✗ sharing .* names a database that the server does not have/,
    ],
  ]
  for (const [address, args, finding] of found) assert.match(await shareFinding(address, args), finding)
  assert.equal(await shareFinding('', []), 'nothing of sharing')
})

test('a gateway does not start by an address that cannot be read, and says that an unused one is ignored', async () => {
  const { code, text } = await run('postgres://u:p/w@db/d', ['gateway', '--share', '--upstream', nobody])
  assert.equal(code, 2)
  assert.match(text, /percent-encode/)
  const env = { TOKENWEIR_SHARE: 'postgres://u:p@127.0.0.1:9/d' }
  await using alone = await startGatewayProcess({ upstream: nobody, env })
  assert.match(alone.stdout, /TOKENWEIR_SHARE is set, and --share is not: nothing is shared/)
})

test('the shared limit is that of who starts alone, and a command changes it for all', async () => {
  const url = await postgres.database('limit_of_all')
  const env = { TOKENWEIR_SHARE: url }
  const start = (slots: number) =>
    startGatewayProcess({ upstream: nobody, env, args: ['--share', '--max-concurrent', String(slots)] })
  const limitOf = async (gateway: Awaited<ReturnType<typeof start>>) =>
    asRecord((await gateway.health())['rate_limiter'])['max_concurrent']
  assert.equal((await run(url, ['gateways', 'set', '--max-concurrent', '7'])).code, 0)
  await using first = await start(7)
  await first.stop()
  await using alone = await start(3)
  assert.equal(await limitOf(alone), 3)
  assert.match(await shareFinding(url, ['--share']), /^✓ sharing .* 1 gateway, 3 slots$/)
  assert.match(
    await shareFinding(url, ['--share', '--max-concurrent', '5']),
    /^✗ sharing .* share 3 slots, and --max-concurrent says 5 → .*gateways set --max-concurrent 5/,
  )
  const refused = await run(url, ['gateway', '--share', '--max-concurrent', '5', '--upstream', nobody])
  assert.equal(refused.code, 2)
  assert.match(refused.text, /share 3 slots.*`tokenweir gateways set --max-concurrent 5` changes it for all/)
  const changed = await run(url, ['gateways', 'set', '--max-concurrent', '5'])
  assert.deepEqual([changed.code, changed.text], [0, 'All gateways share 5 slots from now on.\n'])
  while ((await limitOf(alone)) !== 5);
  await using joined = await startGatewayProcess({ upstream: nobody, env, args: ['--share'] })
  await joined.waitForOutput(/^.* 5 concurrent calls; others queue$/m)
})
