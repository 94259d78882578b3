import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { agentTask, lastWords } from '../support/agent-model.ts'
import { installPackages } from '../support/install-packages.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { agents, askedAllTheSame, builtInModel, type SeenRuns } from './agents.ts'

const program = fileURLToPath(new URL('agents-in-own-network.ts', import.meta.url))

/** A network of its own with nothing but loopback, and a name server there; as root, or as one in a user namespace. */
const namespace = [...(process.getuid?.() === 0 ? [] : ['--map-root-user']), '--net', '--mount']

const canIsolate = spawnSync('unshare', [...namespace, 'ip', 'link', 'set', 'lo', 'up']).status === 0
const skip = canIsolate
  ? false
  : 'agents run only where `unshare --net --mount` and `ip` give them a network of their own'

describe('agents, configured by what `tokenweir env` prints', { skip }, () => {
  let seen: SeenRuns

  before(async () => {
    // Not `npm ci`: a registry may lack the binaries of other platforms, which npm then leaves out of the lock file.
    installPackages(fileURLToPath(new URL('../agents', import.meta.url)), ['--no-save'], 'install')
    await using folder = await makeTempDir()
    writeFileSync(folder.file('resolv.conf'), 'nameserver 127.0.0.1\n')
    const inside =
      'ip link set lo up && mount --bind "$1/resolv.conf" /etc/resolv.conf && exec "$2" "$3" "$1"'
    const args = [...namespace, 'sh', '-c', inside, 'sh', folder.path, process.execPath, program]
    const { stdout, stderr } = spawnSync('unshare', args, { encoding: 'utf8', maxBuffer: 2 ** 26 })
    assert.ok(stdout.startsWith('{'), stderr)
    seen = JSON.parse(stdout) as SeenRuns
  })

  for (const [name, { model, target, client, session, tool }] of Object.entries(agents)) {
    it(`${name} runs a command, tells the model, and ends by itself`, () => {
      const { end, output, left } = seen.runs.find((run) => run.name === name)!
      assert.equal(end, 0, output)
      assert.ok(output.includes(lastWords), output)
      assert.equal(left, agentTask.content, output)
      const calls = seen.calls.filter((call) => call.model === model && call.endpoint === target)
      assert.ok(calls.length >= 2, `the command and what came of it are two calls: ${output}`)
      for (const { outcome, output_tokens } of calls) assert.deepEqual([outcome, output_tokens], ['ok', 9])
    })

    it(`${name} is named, ${session === null ? 'its calls belong to no session' : 'its calls to one session'}, and its tool is listed`, () => {
      const calls = seen.calls.filter((call) => call.model === model)
      assert.deepEqual([...new Set(calls.map((call) => call.client))], [client])
      assert.deepEqual([...new Set(calls.map((call) => call.session_source))], [session])
      const sessions = [...new Set(calls.map((call) => call.session))]
      assert.equal(sessions.length, 1)
      assert.equal(sessions[0] === null, session === null)
      const asked = calls.filter((call) => call.tool_calls !== 0)
      assert.deepEqual(
        asked.map(({ tool_calls, tools }) => [tool_calls, tools]),
        [[1, tool]],
      )
    })

    it(`${name} is answered by the upstream of its model`, () => {
      const calls = seen.calls.filter((call) => call.model === model)
      const own = name === 'codex' || name === 'pi' ? name : 'default'
      assert.deepEqual([...new Set(calls.map((call) => call.upstream_name))], [own])
    })

    it(`${name} sends the upstream what it sends it without the gateway`, () => {
      const { through, direct } = seen.sent[name]!
      assert.ok(direct.length >= 2)
      assert.equal(through.length, direct.length)
      for (const [index, text] of direct.entries()) assertSameText(through[index]!, text)
    })
  }

  it('Codex with its own provider offers WebSocket once, and goes on over HTTP without a failed call', () => {
    const { end, output, left, upgrades } = seen.builtIn
    assert.equal(end, 0, output)
    assert.equal(left, agentTask.content, output)
    assert.equal(upgrades, 1)
    const calls = seen.calls.filter((call) => call.model === builtInModel)
    assert.deepEqual(new Set(calls.map(({ outcome }) => outcome)), new Set(['ok']))
    assert.ok(seen.calls.every(({ outcome }) => outcome !== 'refused'))
  })

  it('the key is the one that the user has', () => {
    assert.deepEqual(seen.credentials, ['Bearer key-of-the-user', 'key-of-the-user'])
  })

  it('with --offline they look up nobody else, but for what docs/clients.md names', () => {
    assert.deepEqual(seen.namesAsked, askedAllTheSame)
  })
})

/** As `equal`, but a failure shows only where two long texts begin to differ. */
function assertSameText(actual: string, expected: string): void {
  if (actual === expected) return
  let at = 0
  while (actual[at] === expected[at]) at++
  assert.equal(actual.slice(Math.max(0, at - 80), at + 80), expected.slice(Math.max(0, at - 80), at + 80))
}
