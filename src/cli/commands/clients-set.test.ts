import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { FakeTerminal } from '../../../test/support/fake-terminal.ts'
import { given } from '../../../test/support/given.ts'
import { makeTempDir } from '../../../test/support/temp-dir.ts'
import * as clientsSet from './clients-set.ts'

test('a limit that is set while no gateway runs is kept, and it is said that none goes by it yet', async () => {
  await using dir = await makeTempDir()
  const terminal = new FakeTerminal()
  const argv = ['codex', '--max-concurrent', '2', '--db', dir.file('t.db')]
  assert.equal(await clientsSet.run(...given(clientsSet, argv, terminal)), 0)
  const file = dir.file('clients.json')
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), { codex: { max_concurrent: 2 } })
  assert.equal(
    terminal.out,
    `codex: at most 2 calls at once\nNo running gateway uses ${file}: this applies once one starts.\n`,
  )
})
