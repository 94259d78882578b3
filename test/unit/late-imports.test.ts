/** A process that lives long loads all its modules before it serves: an update may replace them on the disk meanwhile. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../src/', import.meta.url))
/** Commands load what they need as they begin; an export is a command; the writer's thread loads its observers at its start. */
const mayLoadLate = /^(cli|export)\/|^store\/write\/row-observers\.ts$/

test('no module of the gateway or the dashboard is imported late', () => {
  const late = globSync('**/*.ts', { cwd: root })
    .filter((file) => !file.endsWith('.test.ts') && !mayLoadLate.test(file))
    .flatMap((file) => linesThatImport(file).map((line) => `src/${file}: ${line}`))
  assert.deepEqual(late, [])
})

test('a dashboard loads late only what speaks to PostgreSQL, before it listens', () => {
  assert.deepEqual(linesThatImport('cli/running-dashboard.ts'), [
    "const sharing = options.share ? await import('../share/slots/gateway-list.ts') : null",
  ])
})

test('a late import is seen', () => {
  assert.equal(linesThatImport('store/write/row-observers.ts').length, 1)
})

/** The formatter leaves no blank between `import` and its bracket. */
function linesThatImport(file: string): readonly string[] {
  return readFileSync(`${root}${file}`, 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /(?<![\w.'"`])import\(/.test(line) && !/^(\*|\/\/|\/\*)/.test(line))
}
