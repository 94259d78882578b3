import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeTerminal } from '../../../test/support/fake-terminal.ts'
import { given } from '../../../test/support/given.ts'
import * as add from './upstreams-add.ts'
import * as set from './upstreams-set.ts'
import * as testOne from './upstreams-test.ts'

test('what is missing, or too much, is called an upstream', async () => {
  const terminal = new FakeTerminal()
  assert.throws(() => given(testOne, ['a', 'b'], terminal), /one upstream at a time; got "b" too$/)
  assert.throws(() => given(set, ['--max-concurrent', '1'], terminal), /name the upstream: its name/)
  const withoutUrl = given(add, ['a', '--max-concurrent', '1'], terminal)
  await assert.rejects(async () => add.run(...withoutUrl), /no URL given: use --url/)
  assert.throws(() => given(add, ['a', '--url'], terminal), /argument missing/)
})
