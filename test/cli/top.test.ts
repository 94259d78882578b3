/** `tokenweir top`, in a pseudo terminal that util-linux's `script` makes, and without one. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { fileURLToPath } from 'node:url'
import { startCommandProcess } from '../support/command-process.ts'
import { Condition } from '../support/condition.ts'
import { requestBytes } from '../support/exchange.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { untilCalls, untilIdle } from '../support/gateway-state.ts'
import { type RawClient, openRawClient } from '../support/raw-client.ts'
import { stall, write } from '../support/reply-step.ts'
import { chunkFrame, sseEvent, streamHead } from '../support/response-bytes.ts'
import { type SimulatedUpstream, startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const command = fileURLToPath(new URL('../../bin/tokenweir.js', import.meta.url))

const clear = '\x1b[H\x1b[J'

interface PseudoTerminal extends AsyncDisposable {
  readonly output: string
  type(keys: string): void
  waitFor(pattern: RegExp): Promise<void>
  /** The board that is shown now, line by line. */
  waitForBoard(what: string, holds: (lines: readonly string[]) => boolean): Promise<void>
}

/** Runs `top` in a terminal; the shell around it tells its exit code. */
function startTop(gateway: GatewayProcess, rows = 12): PseudoTerminal {
  const top = `"${process.execPath}" "${command}" top --db "${gateway.databaseFile}"`
  const lines = [`stty rows ${rows} cols 60`, `sh -c 'exec ${top}'`, 'echo "code=$?."']
  // Without the trap the shell would end with its command at a Ctrl-C.
  const shell = ['trap : INT', ...lines].join('; ')
  const env = { ...process.env, TERM: 'xterm', SHELL: '/bin/sh', NO_COLOR: undefined }
  const script = spawn('script', ['-qfc', shell, '/dev/null'], { cwd: gateway.directory, env })
  const condition = new Condition()
  let output = ''
  script.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    condition.changed()
  })
  return {
    get output() {
      return output
    },
    type: (keys) => void script.stdin.write(keys),
    waitFor: async (pattern) =>
      void (await condition.until(() => pattern.exec(output) ?? undefined, `${pattern} on the terminal`)),
    waitForBoard: async (what, holds) => {
      const look = (): true | undefined => {
        const board = output.split(clear).at(-1) ?? ''
        return holds(stripVTControlCharacters(board).split(/\r*\n/)) || undefined
      }
      await condition.until(look, `a board ${what}`)
    },
    [Symbol.asyncDispose]: async () => {
      if (script.exitCode !== null || script.signalCode !== null) return
      script.kill('SIGKILL')
      await once(script, 'close')
    },
  }
}

async function openCall(
  gateway: GatewayProcess,
  upstream: SimulatedUpstream,
  model: string,
): Promise<RawClient> {
  const event = sseEvent({ choices: [{ index: 0, delta: { content: 'w' }, finish_reason: null }] })
  upstream.replyOnce([write(streamHead), write(chunkFrame(event)), stall()])
  const client = await openRawClient(gateway.port)
  await client.send(
    requestBytes('POST', '/v1/chat/completions', { body: JSON.stringify({ model, stream: true }) }),
  )
  return client
}

test('boards follow one another with the calls as they are, until Ctrl-C', async () => {
  await using upstream = await startSimulatedUpstream()
  await using gateway = await startGatewayProcess({
    upstream: upstream.baseUrl,
    args: ['--max-concurrent', '1'],
  })
  await using first = await openCall(gateway, upstream, 'first\x1b[2J')
  await first.waitForBytes('"w"')
  await using terminal = startTop(gateway)
  await terminal.waitFor(/1 of 1 slots/)
  await terminal.waitFor(/streaming.*first\ufffd\[2J/)
  await using second = await openCall(gateway, upstream, 'second')
  await terminal.waitForBoard('with both calls', ([head = '', , one = '', two = '']) =>
    [head.includes('1 queued'), one.startsWith('streaming '), /^queued #1 .*second/.test(two)].every(Boolean),
  )
  second.reset()
  await terminal.waitForBoard('without the call that has gone', (lines) =>
    [lines[0]?.includes('0 queued'), lines[2]?.startsWith('streaming '), lines[3] === ''].every(Boolean),
  )
  terminal.type('\x03')
  await terminal.waitFor(/code=130\./)
  assert.equal(terminal.output.includes('\x1b[?1049h'), false, 'what stood above may be scrolled to')
  first.reset()
  await untilIdle(gateway)
})

test('calls that a terminal has no lines for are counted; the end of the gateway is told', async () => {
  await using upstream = await startSimulatedUpstream()
  await using gateway = await startGatewayProcess({
    upstream: upstream.baseUrl,
    args: ['--max-concurrent', '1'],
  })
  await using calls = new AsyncDisposableStack()
  for (const model of ['a', 'b', 'c', 'd']) calls.use(await openCall(gateway, upstream, model))
  await untilCalls(gateway, { active: 1, queued: 3 })
  await using terminal = startTop(gateway, 6)
  await terminal.waitForBoard(
    'of six lines, none wider than the terminal',
    (lines) => lines.length === 6 && lines.at(-2) === '… 2 more' && lines.every((line) => line.length <= 60),
  )
  await gateway.kill9()
  await terminal.waitFor(/tokenweir: lost the connection to the gateway\s+code=4\./)
})

test('without a terminal one board is printed; without a gateway that is said', async () => {
  await using upstream = await startSimulatedUpstream()
  await using gateway = await startGatewayProcess({ upstream: upstream.baseUrl })
  await using call = await openCall(gateway, upstream, 'only')
  await call.waitForBytes('"w"')
  const run = async (...args: string[]) => {
    await using top = startCommandProcess({ args: ['top', ...args], directory: gateway.directory })
    const { code } = await top.exited
    return { code, stdout: top.stdout, stderr: top.stderr }
  }
  const printed = await run('--db', gateway.databaseFile)
  assert.equal(printed.code, 0)
  assert.match(
    printed.stdout,
    /^1 of 4 slots · 0 queued · .*1 call in progress\nstate .*\nstreaming .* only .*\n$/,
  )
  const json = JSON.parse((await run('--json', '--db', gateway.databaseFile)).stdout) as {
    calls: { model: string }[]
  }
  assert.deepEqual(fieldsOf(json.calls, 'model'), ['only'])
  await using elsewhere = await makeTempDir()
  const none = await run('--once', '--db', elsewhere.file('telemetry.db'))
  assert.equal(none.code, 4)
  assert.match(none.stderr, /no gateway is running/)
})
