import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { startCommandProcess } from '../support/command-process.ts'
import { cannotActAsOthers } from '../support/curl.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { type StopMoment, stopAtMoment } from './stop-moments.ts'

test('what Node compiled is kept in the user’s own folder for the next start', async () => {
  await using dir = await makeTempDir()
  assert.deepEqual(await runIn(dir.path), { code: 0, signal: null })
  const [version = ''] = readdirSync(dir.file('tokenweir'))
  assert.ok(readdirSync(dir.file(`tokenweir/${version}`)).length > 20)
})

test('a folder that cannot be made stops nothing', async () => {
  await using dir = await makeTempDir()
  writeFileSync(dir.file('file'), '')
  assert.deepEqual(await runIn(dir.file('file')), { code: 0, signal: null })
})

test(
  'a user whom the system does not know, and so without a home, starts all the same',
  { skip: cannotActAsOthers },
  async () => {
    const env = { NODE_COMPILE_CACHE: undefined, XDG_CACHE_HOME: undefined, HOME: undefined }
    const launcher = ['setpriv', '--reuid=54321', '--regid=54321', '--clear-groups']
    await using command = startCommandProcess({ args: ['--version'], directory: '/', env, launcher })
    assert.deepEqual(await command.exited, { code: 0, signal: null })
  },
)

async function runIn(cacheHome: string): Promise<unknown> {
  const env = { NODE_COMPILE_CACHE: undefined, XDG_CACHE_HOME: cacheHome }
  await using command = startCommandProcess({ args: ['--version'], directory: '/', env })
  return await command.exited
}

const moments: readonly StopMoment[] = [
  // The gateway has just been started, and is not ready.
  { command: 'up', way: 'twice', afterMs: null, againAfterMs: 0 },
  { command: 'demo', way: 'twice', afterMs: null, againAfterMs: 60 },
  { command: 'up', way: 'group', afterMs: null, againAfterMs: 0 },
  { command: 'demo', way: 'service', afterMs: null, againAfterMs: 0 },
  { command: 'gateway', way: 'hangup', afterMs: 700, againAfterMs: 0 },
  { command: 'dashboard', way: 'group', afterMs: 900, againAfterMs: 0 },
]

for (const moment of moments) {
  const { command, way, afterMs } = moment
  const when = afterMs === null ? 'while its gateway starts' : `after ${afterMs} ms`
  test(`${command}, stopped by ${way} ${when}, leaves nothing behind`, async () => {
    assert.deepEqual(await stopAtMoment(moment), [])
  })
}
