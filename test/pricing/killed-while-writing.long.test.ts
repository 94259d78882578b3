import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { test } from 'node:test'
import { lockPriceFile, readPriceFile } from '../../src/pricing/price-file.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const writer = fileURLToPath(new URL('./write-again.ts', import.meta.url))

test('killed while it writes, it leaves the old prices or the new, and no lock', async () => {
  await using directory = await makeTempDir()
  const path = directory.file('model_costs.json')
  const random = seededRandom(9)
  for (let round = 0; round < 8; round += 1) {
    const child = spawn(process.execPath, [writer, path], { stdio: ['ignore', 'pipe', 'inherit'] })
    // It never rests: wherever it is when it has written so often, it is on its way through the next.
    let left = 1 + Math.floor(random() * 20)
    for await (const dots of child.stdout) {
      left -= String(dots).length
      if (left > 0) continue
      child.kill('SIGKILL')
      break
    }
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    const reading = readPriceFile(path)
    assert.ok('costs' in reading && reading.costs !== null, JSON.stringify(reading).slice(0, 300))
    assert.ok(Object.keys(reading.costs.models).length > 1000)
    const lock = await lockPriceFile(path, 0)
    assert.ok(lock !== null)
    lock[Symbol.dispose]()
  }
})
