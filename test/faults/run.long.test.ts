import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { figureList } from './figure-list.ts'

const program = fileURLToPath(new URL('run.ts', import.meta.url))

test('the quick run ends by itself, and prints a table in which every figure holds', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [program, '--quick'], { timeout: 900_000 })
  const rows = stdout.trim().split('\n').slice(2)
  const quick = figureList.filter((figure) => figure.quick !== null)
  assert.equal(rows.length, quick.length)
  for (const [index, row] of rows.entries())
    assert.match(row, /^\| R\d+ \| .+ \| ✓ [\d.]+ .+ \| \d+ \|$/, `${index}`)
})

test('docs/internals/reliability.md has a row for every figure that is measured, and names a command that there is', async () => {
  const text = await readFile(new URL('../../docs/internals/reliability.md', import.meta.url), 'utf8')
  const told = new Map(
    [...text.matchAll(/^\| (R\d+b?) \|.*\| ([^|]+) \|$/gm)].map(([, name = '', command = '']) => [
      name,
      command,
    ]),
  )
  for (const { figures } of figureList) for (const name of figures) assert.ok(told.has(name), name)
  const { scripts } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>
  }
  assert.equal(scripts['test:faults'], 'node test/faults/run.ts')
  assert.equal(scripts['test:soak'], 'node test/faults/soak.ts')
  const files = [...text.matchAll(/`(test\/[\w/.-]+\.ts)/g)].map(([, file = '']) => file)
  assert.ok(files.length > 10)
  await Promise.all(files.map((file) => readFile(new URL(`../../${file}`, import.meta.url))))
})
