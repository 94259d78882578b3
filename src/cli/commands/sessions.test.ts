import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CallRecord } from '../../call/call-record.ts'
import { bareCall, chatCall, idAt } from '../../../test/store/sample-call.ts'
import { commandFault } from '../../../test/support/command-fault.ts'
import { FakeTerminal } from '../../../test/support/fake-terminal.ts'
import { given } from '../../../test/support/given.ts'
import { makeTempDir } from '../../../test/support/temp-dir.ts'
import { OptionError } from '../parse-options.ts'
import * as sessions from './sessions.ts'
import { writeCalls } from '../../../test/store/write-calls.ts'

const calls: readonly CallRecord[] = [
  { ...chatCall(idAt(0)), session: 'run 1', durationMs: 500, toolCalls: 2 },
  { ...bareCall(idAt(5)), session: 'run 2\u001b[31m', client: 'pi', outcome: 'refused', durationMs: 1 },
  { ...chatCall(idAt(900)), session: 'run 1', model: 'qwen3', durationMs: 100 },
  { ...chatCall(idAt(1000)), session: null },
]

async function output(
  argv: readonly string[],
  width = 160,
): Promise<FakeTerminal & { readonly code: number }> {
  await using dir = await makeTempDir()
  const path = dir.file('calls.db')
  writeCalls(path, calls)
  const terminal = new FakeTerminal({ width })
  const code = await sessions.run(...given(sessions, [...argv, '--db', path], terminal))
  return Object.assign(terminal, { code })
}

/** Without the time, which is local. */
const cells = (line: string): readonly string[] => line.trim().split(/ {2,}/).slice(1)
const spaced = (word: string): string => word.replaceAll('_', ' ')

describe('tokenweir sessions', () => {
  it('prints the last sessions, the newest last, and what they come to', async () => {
    const { out, code } = await output([])
    const lines = out.trimEnd().split('\n')
    assert.equal(code, 0)
    assert.deepEqual(lines.slice(0, 3).map(cells), [
      'session client models calls errors in_→_out cached tools cost wall in_calls'.split(' ').map(spaced),
      ['run 2\ufffd[31m', 'pi', '–', '1', '1', '0 →', '0', '–', '0', '–', '1 ms', '1 ms'],
      'run_1 openai-python gpt-5.1-mini,_qwen3 2 0 2,408_→_330 85% 2 $0.000825 1.00_s 600_ms'
        .split(' ')
        .map(spaced),
    ])
    assert.equal(lines[3], '2 sessions · 3 calls · 1 failed · 2,408 → 330 tokens · 85% cached · $0.000825')
  })

  it('prints a JSON object per line', async () => {
    const { out } = await output(['--json', '--recent', '1'])
    const { session, calls: count, wall_ms, between_ms } = JSON.parse(out) as Record<string, unknown>
    assert.deepEqual([session, count, wall_ms, between_ms], ['run 1', 2, 1000, 400])
  })

  it('asks for what the options say', async () => {
    assert.match((await output(['--client', 'pi'])).out, /run 2/)
    assert.doesNotMatch((await output(['--client', 'pi'])).out, /run 1/)
    assert.match((await output(['--model', 'nobody'])).out, /^No recorded sessions match\.\n$/)
    assert.equal((await output(['--model', 'nobody', '--json'])).out, '')
    await assert.rejects(() => output(['--recent', '0']), OptionError)
  })

  it('says where nothing is', async () => {
    const terminal = new FakeTerminal()
    await assert.rejects(
      sessions.run(...given(sessions, ['--db', '/nowhere/calls.db'], terminal)),
      commandFault(/There is no database yet/),
    )
  })
})
