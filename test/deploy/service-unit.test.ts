import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { makeTempDir } from '../support/temp-dir.ts'

const command = fileURLToPath(new URL('../../bin/tokenweir.js', import.meta.url))
const hostile = '/srv/a $HOME 100% "b" \\c'
const mostExposure = 2
const webhook = 'https://hooks.example.com/services/T0/B0/not-for-others'

function unit(...args: readonly string[]): string {
  const env = { PATH: process.env['PATH'], TOKENWEIR_MAX_CONCURRENT: '7', TOKENWEIR_ALERT_WEBHOOK: webhook }
  return execFileSync(process.execPath, [command, 'service', 'print', ...args], { encoding: 'utf8', env })
}

test('the unit is one that systemd has nothing against, and that is closed', async () => {
  await using folder = await makeTempDir()
  const file = folder.file('tokenweir.service')
  writeFileSync(file, unit('--raw-log-file', hostile, '--upstream', 'http://127.0.0.1:11434/a%20b'))
  const verified = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
  assert.deepEqual([verified.status, verified.stdout, verified.stderr], [0, '', ''])
  const rated = spawnSync('systemd-analyze', ['security', '--offline=yes', file], { encoding: 'utf8' })
  const [, exposure] = /Overall exposure level for \S+: ([\d.]+)/.exec(rated.stdout) ?? []
  assert.ok(Number(exposure) <= mostExposure, `${exposure}\n${rated.stdout}`)
})

test('it runs `up` with what was given by flags and variables, and nothing else', () => {
  const text = unit('--port', '8080', '--drain-timeout-ms', '60000', '--raw-log-file', hostile)
  const line = /^ExecStart=(.*)$/m.exec(text)?.[1] ?? ''
  assert.ok(line.startsWith(`${process.execPath} ${command} up `), line)
  const [, args = ''] = line.split(' up ')
  const expected = ['--port=8080', '--max-concurrent=7', '--drain-timeout-ms=60000']
  for (const arg of expected) assert.ok(args.split(' ').includes(arg), line)
  // Quoted as systemd.syntax(7) has it; `$` and `%` are doubled (systemd.service(5)).
  assert.ok(args.includes(String.raw`"--raw-log-file=/srv/a $$HOME 100%% \"b\" \\c"`), line)
  assert.equal(args.match(/--/g)?.length, 4)
  assert.ok(!text.includes(webhook))
  assert.match(text, /^TimeoutStopSec=70$/m)
  assert.match(text, /^KillMode=mixed$/m)
  assert.doesNotMatch(text, /^MemoryDenyWriteExecute/m)
})

test('folders elsewhere can be written, and one that the service does not see is refused', () => {
  assert.match(unit('--db', '/srv/calls 1%/x.db'), /^ReadWritePaths="\/srv\/calls 1%%"$/m)
  assert.doesNotMatch(unit('--db', '/var/lib/tokenweir/x.db'), /ReadWritePaths/)
  for (const folder of ['root', 'tmp', 'home/me/data']) {
    const args = [command, 'service', 'print', '--db', `/${folder}/x.db`]
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    assert.equal(status, 2)
    assert.match(stderr, /--db .* is in a home or a temporary folder.*: choose another, as below \/srv/)
  }
})

test('a wrong option is refused, and no unit printed', () => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [command, 'service', 'print', '--port', 'x'],
    { encoding: 'utf8' },
  )
  assert.deepEqual([status, stdout], [2, ''])
  assert.match(stderr, /--port must be/)
})
