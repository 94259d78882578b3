import assert from 'node:assert/strict'
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { chmod, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { hookedCommand, makeWorkplace } from './workplace.ts'

const key = 'sk-secret-of-the-upstream'
const adminToken = 'token-of-the-admin-1234567890'
const env = {
  ...process.env,
  UPSTREAM_API_KEY: key,
  AWS_SECRET_ACCESS_KEY: 'other-secret',
  TOKENWEIR_MAX_CONCURRENT: '77',
  PORT: '1',
}

function argumentsOf(pid: number | null): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
}

function environmentOf(pid: number | null): Record<string, string> {
  const lines = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  return Object.fromEntries(
    lines
      .filter((line) => line !== '')
      .map((line) => [line.split('=')[0]!, line.slice(line.indexOf('=') + 1)]),
  )
}

test('secrets go by the environment and never by an argument, and nothing else of it goes on', async () => {
  await using place = await makeWorkplace()
  const supervisor = place.supervisor({
    args: ['--port=0', '--upstream=http://127.0.0.1:9/v1'],
    env,
    adminToken,
  })
  const { pid, health } = await supervisor.start()
  const args = argumentsOf(pid)
  assert.ok(args.includes('--max-concurrent=4'))
  assert.ok(!args.includes(key) && !args.includes(adminToken))
  const given = environmentOf(pid)
  assert.equal(given['UPSTREAM_API_KEY'], key)
  assert.equal(given['TOKENWEIR_ADMIN_TOKEN'], adminToken)
  assert.ok(
    !('AWS_SECRET_ACCESS_KEY' in given) && !('TOKENWEIR_MAX_CONCURRENT' in given) && !('PORT' in given),
  )
  assert.equal(health?.rate_limiter.max_concurrent, 4)
  // Before that, files come and go.
  const log = place.file('proxy.log')
  await eventually('calls to be recorded', () => readFileSync(log, 'utf8').includes('are recorded in'))
  for (const name of readdirSync(place.folder)) {
    if (!statSync(place.file(name)).isFile()) continue
    const content = readFileSync(place.file(name), 'latin1')
    assert.ok(!content.includes(key) && !content.includes(adminToken), name)
  }
})

test('a gateway that is brought back gets the key only where it may have it', async () => {
  await using place = await makeWorkplace()
  const upstream = 'http://127.0.0.1:9/v1'
  // Once it was taken for ready it is asked how it is: by then it is gone.
  const command = hookedCommand(`
    const { prototype } = process.getBuiltinModule('node:net').Server
    const { emit } = prototype
    if (message.ready && process.argv.includes('--max-concurrent=77')) prototype.emit = function (name, ...parts) {
      if (name === 'connection') process.kill(process.pid, 'SIGKILL')
      return emit.call(this, name, ...parts)
    }`)
  const open = place.supervisor({ args: ['--port=0'], env, command })
  await open.start({ upstream })
  await assert.rejects(
    open.restart({ max_concurrent: 77 }),
    /ended at once\. The previous gateway was brought back/,
  )
  assert.ok(!('UPSTREAM_API_KEY' in environmentOf((await open.status()).pid)))

  // Its upstream is not the one that this dashboard's starter named.
  const fixed = place.supervisor({ args: ['--port=0', '--upstream=http://127.0.0.1:11/v1'], env, command })
  await assert.rejects(fixed.restart({ max_concurrent: 77 }), /was brought back/)
  const back = await fixed.status()
  assert.equal(back.upstream, upstream)
  assert.ok(!('UPSTREAM_API_KEY' in environmentOf(back.pid)))
})

test('what is in a data folder is for its owner alone', async () => {
  await using place = await makeWorkplace()
  await writeFile(place.file('proxy.log'), 'readable by all\n')
  await chmod(place.file('proxy.log'), 0o644)
  const supervisor = place.supervisor({ args: ['--port=0', '--upstream=http://127.0.0.1:9/v1'] })
  await supervisor.start({ max_concurrent: 3 })
  const names = ['gateway.sock', 'gateway-process.json', 'gateway.json', 'proxy.log', '.proxy.pid']
  for (const name of names) assert.equal(statSync(place.file(name)).mode & 0o777, 0o600, name)
})
