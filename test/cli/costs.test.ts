import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { readPriceFile } from '../../src/pricing/price-file.ts'
import { startCommandProcess } from '../support/command-process.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { makeTempDir } from '../support/temp-dir.ts'

/** Nothing listens there: whatever runs on this machine, its prices stay as they are. */
let gatewayPort = 1

async function costs(
  directory: string,
  ...args: readonly string[]
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  await using command = startCommandProcess({
    args: ['costs', ...args],
    directory,
    env: { TOKENWEIR_PORT: String(gatewayPort) },
  })
  const { code } = await command.exited
  return { code, stdout: command.stdout, stderr: command.stderr }
}

function overridesIn(directory: string): readonly string[] {
  const reading = readPriceFile(join(directory, 'data/model_costs.json'))
  assert.ok('costs' in reading && reading.costs !== null, JSON.stringify(reading))
  return Object.keys(reading.costs.overrides)
}

test('a price is set, shown and taken away', async () => {
  await using directory = await makeTempDir()
  const { path } = directory
  const at = ['--upstream', '127.0.0.1:8080']
  assert.equal((await costs(path, 'show', 'my-model', ...at)).code, 1)
  const set = await costs(path, 'set', '127.0.0.1:8080/my-model', '--input', '0.15', '--output', '0.6')
  assert.deepEqual([set.code, set.stderr], [0, ''])
  const shown = await costs(path, 'show', 'my-model', ...at)
  assert.equal(shown.code, 0)
  assert.match(
    shown.stdout,
    /127\.0\.0\.1:8080\/my-model, an override\n.*user[^]*input 0\.15, output 0\.6 USD per million tokens/,
  )
  assert.equal((await costs(path, 'set', '127.0.0.1:8080/my-model', '--remove')).code, 0)
  assert.deepEqual(overridesIn(path), [])
  await writeFile(join(path, 'data/model_costs.json'), '{"version": 1,\n "overides": {}}')
  const broken = await costs(path, 'set', 'x', '--input', '1', '--output', '1')
  assert.equal(broken.code, 1)
  assert.match(
    broken.stderr,
    /^tokenweir: data\/model_costs\.json, line 2, column 2 must be fixed first: overides is unknown here/,
  )
})

test('of many that set a price at once, none is lost', async () => {
  await using directory = await makeTempDir()
  const names = Array.from({ length: 4 }, (_, i) => `model-${i}`)
  const runs = await Promise.all(
    names.map((name) => costs(directory.path, 'set', name, '--input', '1', '--output', '1')),
  )
  assert.deepEqual(
    fieldsOf(runs, 'code', 'stderr'),
    names.map(() => [0, '']),
  )
  assert.deepEqual([...overridesIn(directory.path)].sort(), names)
})

test('where a variable names a gateway of another folder, a price is set and shown there, and that is said', async () => {
  await using directory = await makeTempDir()
  await using gateway = await startGatewayProcess({ upstream: 'http://127.0.0.1:9' })
  gatewayPort = gateway.port
  try {
    const set = await costs(directory.path, 'set', 'my-model', '--input', '1', '--output', '2')
    assert.equal(set.code, 0)
    assert.match(set.stderr, /^using .*telemetry\.db of the gateway on port \d+; use --db for another$/m)
    assert.ok(!existsSync(join(directory.path, 'data')))
    const reading = readPriceFile(join(gateway.directory, 'model_costs.json'))
    assert.ok('costs' in reading && 'my-model' in (reading.costs?.overrides ?? {}))
    assert.match((await costs(directory.path, 'show', 'my-model')).stdout, /my-model, an override/)
  } finally {
    gatewayPort = 1
  }
})
