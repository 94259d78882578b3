import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeTerminal } from '../../../test/support/fake-terminal.ts'
import { run as add } from './upstreams-add.ts'
import { run as set } from './upstreams-set.ts'
import { run as testOne } from './upstreams-test.ts'

test('what is missing, or too much, is called an upstream', async () => {
  const told = (run: typeof set, ...argv: readonly string[]): Promise<unknown> =>
    run(argv, {}, new FakeTerminal()).catch((error: unknown) => String(error))
  assert.match(String(await told(testOne, 'a', 'b')), /one upstream at a time; got "b" too$/)
  assert.match(String(await told(set, '--max-concurrent', '1')), /name the upstream$/)
  assert.match(String(await told(add, 'a', '--max-concurrent', '1')), /say where it is: --url/)
  assert.match(String(await told(add, 'a', '--url')), /argument missing/)
})
