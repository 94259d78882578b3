import assert from 'node:assert/strict'
import {
  existsSync,
  lchownSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { test } from 'node:test'
import { fileBehind } from '../../src/lib/files/file-behind.ts'
import { startCommandProcess } from '../support/command-process.ts'
import { cannotActAsOthers, nobodysId } from '../support/curl.ts'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { inParallel } from '../support/in-parallel.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'

const names = ['clients', 'upstreams', 'model_costs', 'alerts', 'notes', 'gateway'] as const
const prices = '{"version":1,"models":{},"overrides":{}}'

/** A data folder whose settings files are links into the folder `kept`, where only the prices exist. */
function linkSettings(dir: TempDir): void {
  for (const folder of ['data', 'kept']) mkdirSync(dir.file(folder), { mode: 0o700 })
  writeFileSync(dir.file('kept/model_costs.json'), prices)
  for (const name of names) symlinkSync(`../kept/${name}.json`, dir.file(`data/${name}.json`))
}

function assertChanged(
  dir: TempDir,
  contents: Readonly<Partial<Record<(typeof names)[number], RegExp>>>,
): void {
  for (const [name, content] of Object.entries(contents)) {
    assert.equal(readlinkSync(dir.file(`data/${name}.json`)), `../kept/${name}.json`)
    assert.match(readFileSync(dir.file(`kept/${name}.json`), 'utf8'), content)
  }
}

test('a command that changes a linked settings file changes its target, and the link stays', async () => {
  await using dir = await makeTempDir()
  linkSettings(dir)
  const commands = [
    ['clients', 'set', 'codex', '--max-concurrent', '2'],
    ['upstreams', 'add', 'box', '--url', 'http://127.0.0.1:9', '--model', 'm'],
    ['costs', 'set', 'm', '--input', '1', '--output', '2'],
  ]
  await inParallel(commands, commands.length, async (args) => {
    await using command = startCommandProcess({ args, directory: dir.path })
    assert.equal((await command.exited).code, 0, command.stderr)
  })
  assertChanged(dir, { clients: /"codex"/, upstreams: /"box"/, model_costs: /"m"/ })
})

test('the dashboard changes the targets of linked settings files, too', async () => {
  await using dir = await makeTempDir()
  linkSettings(dir)
  await using dashboard = await startDashboardProcess({ directory: dir.path })
  for (const [method, path, body] of [
    ['PUT', '/api/alerts', { gateway_crashed: { on: false } }],
    ['POST', '/api/notes', { text: 'a new model' }],
    ['PUT', '/api/proxy/config', { max_concurrent: 7 }],
    ['PUT', '/api/costs/overrides/m', { input: 1, output: 2 }],
  ] as const) {
    const answer = await dashboard.ask(method, path, body)
    assert.ok(answer.ok, `${path}: ${await answer.text()}`)
  }
  assertChanged(dir, { alerts: /gateway_crashed/, notes: /a new model/, gateway: /7/, model_costs: /"m"/ })
})

test('a link of another user is not followed', { skip: cannotActAsOthers }, async () => {
  await using dir = await makeTempDir()
  symlinkSync(dir.file('victim'), dir.file('clients.json'))
  assert.equal(fileBehind(dir.file('clients.json')), dir.file('victim'))
  lchownSync(dir.file('clients.json'), nobodysId, nobodysId)
  assert.throws(() => fileBehind(dir.file('clients.json')), /clients\.json belongs to nobody/)
  assert.ok(!existsSync(dir.file('victim')))
})
