import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { given } from '../../../test/support/given.ts'
import type { Terminal } from '../terminal/terminal.ts'
import * as env from './env.ts'

const clients = env.positional[1].split(', ')

async function printed(...argv: string[]): Promise<{ readonly out: string; readonly err: string }> {
  let out = ''
  let err = ''
  const print = (text: string): void => void (out += text)
  const warn = (text: string): void => void (err += text)
  const terminal = { print, warn, isWatched: false } as unknown as Terminal
  assert.equal(await env.run(...given(env, argv, terminal)), 0)
  return { out, err }
}

/** A shell's output for the printed lines, followed by one more line. */
function inShell(lines: string, line: string, env: Readonly<Record<string, string>> = {}): string {
  return execFileSync('sh', ['-c', `set -eu\n${lines}${line}`], {
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin', ...env },
  })
}

const hostile = `a'b"c $(touch /tmp/no) \`x\` ; \\ *`

test('whatever a model is called, a shell takes it for that name', async () => {
  const valueOf = async (client: string, variable: string): Promise<string> =>
    inShell((await printed(client, '--model', hostile)).out, `printf %s "${variable}"`)
  assert.equal(await valueOf('claude', '$ANTHROPIC_MODEL'), hostile)
  assert.equal(await valueOf('openai', '$OPENAI_MODEL'), hostile)
  assert.equal(await valueOf('aider', '$AIDER_MODEL'), `openai/${hostile}`)
  const { model } = JSON.parse(await valueOf('opencode', '$OPENCODE_CONFIG_CONTENT'))
  assert.equal(model, `tokenweir/${hostile}`)
})

test('codex gets its settings as arguments, and sends the key that there is', async () => {
  const { out } = await printed('codex', '--model', hostile)
  // `command codex` looks for a program: this one prints its arguments.
  const asProgram = out.replace('command codex', "printf '%s\\n'")
  const model = `model=${JSON.stringify(hostile)}`
  const args = inShell(asProgram, 'codex exec').split('\n')
  assert.ok(args.includes(model), args.join('\n'))
  assert.deepEqual(args.slice(-2), ['exec', ''])
  assert.ok(!args.some((arg) => arg.includes('env_key')))
  const withKey = inShell(asProgram, 'codex exec', { OPENAI_API_KEY: 'k' })
  assert.match(withKey, /^-cmodel_providers\.tokenweir\.env_key=OPENAI_API_KEY$/m)
})

test('the address is as given, with /v1 or without; Anthropic clients get it without', async () => {
  for (const url of ['http://gate:8000', 'http://gate:8000/v1', 'http://gate:8000/v1/']) {
    const [openai, claude] = [await printed('openai', '--url', url), await printed('claude', '--url', url)]
    assert.match(openai.out, /^export OPENAI_BASE_URL=http:\/\/gate:8000\/v1$/m)
    assert.match(claude.out, /^export ANTHROPIC_BASE_URL=http:\/\/gate:8000$/m)
  }
  assert.match((await printed('openai', '--port', '1234')).out, /localhost:1234/)
})

test('a key that is set stays; without one a client that insists on one gets a word', async () => {
  const { out } = await printed('openai')
  assert.equal(inShell(out, 'printf %s "$OPENAI_API_KEY"'), 'none')
  assert.equal(inShell(out, 'printf %s "$OPENAI_API_KEY"', { OPENAI_API_KEY: 'mine' }), 'mine')
})

test('what is a file, and no lines for a shell, says which', async () => {
  for (const client of clients) {
    const { out, err } = await printed(client, '--model', 'm')
    assert.equal(err !== '', !/^(?:export|codex\()/m.test(out), client)
    if (err.includes('.json')) assert.doesNotThrow(() => JSON.parse(out) as unknown)
  }
})

test('who is no known client is told which there are', async () => {
  const refusal = { message: `the client must be one of ${clients.join(', ')}; got "cursor"` }
  await assert.rejects(printed('cursor'), refusal)
  await assert.rejects(printed(), { message: `name the client: ${clients.join(', ')}` })
  await assert.rejects(printed('claude', 'codex'), /one client at a time; got "codex" too/)
  await assert.rejects(printed('continue'), /--model/)
})
