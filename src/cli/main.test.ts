import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  closeSync,
  cpSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Script } from 'node:vm'

const command = fileURLToPath(new URL('../../bin/tokenweir.js', import.meta.url))

interface Run {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

function tokenweir(args: readonly string[], nodeArgs: readonly string[] = [], file = command): Run {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const env = { PATH, NODE_COMPILE_CACHE }
  const { status, stdout, stderr } = spawnSync(process.execPath, [...nodeArgs, file, ...args], {
    encoding: 'utf8',
    env,
  })
  return { code: status, stdout, stderr }
}

describe('tokenweir', () => {
  it('tells its version', () => {
    for (const word of ['--version', '-v', 'version'])
      assert.match(tokenweir([word]).stdout, /^\d+\.\d+\.\d+\n$/)
  })

  it('refuses in one line, with exit code 2, what it does not understand', () => {
    const wrong: readonly (readonly [readonly string[], RegExp])[] = [
      [['gatway'], /^tokenweir: unknown command 'gatway' \(Did you mean gateway\?\)\n$/],
      [['status'], /^tokenweir: unknown command 'status': tokenweir --help lists the commands\n$/],
      [['db', 'xyz'], /^tokenweir: unknown command 'xyz': tokenweir --help lists the commands\n$/],
      [['--wat'], /^tokenweir: unknown option '--wat'\n$/],
      [['gateway', '--port', 'x'], /^tokenweir: --port must be a whole number from 0 to 65,535; got "x"\n$/],
      [['doctor', '--gateway-port', 'x'], /^tokenweir: --port must be a whole number[^\n]+\n$/],
      [['upstreams', 'remov', 'x'], /^tokenweir: unknown command 'remov' \(Did you mean remove\?\)\n$/],
      [['calls', 'now'], /^tokenweir: this command takes options alone; got "now"\n$/],
    ]
    for (const [args, message] of wrong) {
      const { code, stdout, stderr } = tokenweir(args)
      assert.equal(code, 2, args.join(' '))
      assert.equal(stdout, '')
      assert.match(stderr, message)
    }
  })

  it('says in one line that there is no database where one was named', () => {
    const run = tokenweir(['calls', '--json', '--db', '/nowhere/calls.db'])
    assert.deepEqual([run.code, run.stdout], [1, ''])
    assert.match(run.stderr, /^tokenweir: \/nowhere\/calls\.db: There is no database yet[^\n]+\n$/)
  })

  it('imports what standard input brings', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tokenweir-'))
    try {
      const call = {
        request_id: 'r-1',
        call_type: 'acompletion',
        spend: 0.01,
        prompt_tokens: 100,
        completion_tokens: 20,
      }
      const times = { startTime: '2026-11-18T04:00:00Z', endTime: '2026-11-18T04:00:02Z', model: 'gpt-4.1' }
      const input = `${JSON.stringify({ ...call, ...times })}\n`
      const run = () =>
        spawnSync(process.execPath, [command, 'db', 'import', '-'], { cwd: folder, encoding: 'utf8', input })
      assert.match(run().stdout, /^1 call of LiteLLM.* added/)
      assert.match(run().stdout, /; 1 there already, 0 skipped/)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('says that standard output cannot be written', { skip: !existsSync('/dev/full') }, () => {
    using full = new DisposableStack()
    const file = full.adopt(openSync('/dev/full', 'w'), closeSync)
    const { status, stderr } = spawnSync(process.execPath, [command, 'costs', 'list'], {
      encoding: 'utf8',
      stdio: ['ignore', file, 'pipe'],
    })
    assert.equal(status, 1)
    assert.match(
      stderr,
      /^tokenweir: standard output: the disk is full; make room and try again \(ENOSPC\)\n$/,
    )
  })

  it('names the Node that it needs when it is run by an older one', () => {
    const pretend = (version: string): string =>
      `data:text/javascript,Object.defineProperty(process,"versions",{value:{node:"${version}"}})`
    // As it is installed: without the Node that a clone has.
    const folder = mkdtempSync(join(tmpdir(), 'tokenweir-'))
    try {
      cpSync(dirname(command), join(folder, 'bin'), { recursive: true })
      writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
      for (const version of ['8.17.0', '24.15.9']) {
        const file = join(folder, 'bin/tokenweir.js')
        assert.deepEqual(tokenweir(['--version'], ['--import', pretend(version)], file), {
          code: 1,
          stdout: '',
          stderr: `tokenweir needs Node 24.16 or newer; this is Node ${version}. Install a newer one (https://nodejs.org); in a clone, npm ci brings it.\n`,
        })
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
    assert.equal(tokenweir(['--version'], ['--import', pretend('26.0.0')]).code, 0)
  })

  it('runs in a clone on the Node that npm ci brought, when an older one starts it', () => {
    const older = 'data:text/javascript,Object.defineProperty(process,"versions",{value:{node:"20.20.2"}})'
    const run = (...args: readonly string[]): Run => tokenweir(args, ['--import', older])
    const wrong = run('calls', '--wat')
    assert.deepEqual([wrong.code, wrong.stderr], [2, "tokenweir: unknown option '--wat'\n"])
  })

  it('can be read by a Node that knows no modules', () => {
    const source = readFileSync(command, 'utf8').replace(/^#!.*/, '')
    assert.doesNotThrow(() => new Script(source))
    assert.doesNotMatch(source, /\b(?:const|let|class|await)\b.*[=({]|=>|`/)
  })
})
