/** `tokenweir top`, in a pseudo terminal that util-linux's `script` makes, and without one. */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { fileURLToPath } from 'node:url'
import { startCommandProcess } from '../support/command-process.ts'
import { Condition } from '../support/condition.ts'
import { requestBytes } from '../support/exchange.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { untilCalls, untilIdle } from '../support/gateway-state.ts'
import { type RawClient, openRawClient } from '../support/raw-client.ts'
import { stall, write } from '../support/reply-step.ts'
import { chunkFrame, responseHead, sseEvent } from '../support/response-bytes.ts'
import { type SimulatedUpstream, startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const command = fileURLToPath(new URL('../../bin/tokenweir.js', import.meta.url))
const leave = '\x1b[?25h\x1b[?1049l'

interface PseudoTerminal extends AsyncDisposable {
  /** Of the command in it. */
  readonly pid: number
  readonly output: string
  type(keys: string): void
  /** Of the whole output, or of what is drawn from now on. */
  waitFor(pattern: RegExp): Promise<void>
  waitForNew(pattern: RegExp): Promise<void>
  /** The lines that are shown now. */
  waitForFrame(what: string, holds: (lines: readonly string[]) => boolean): Promise<void>
  resize(rows: number, columns: number): void
}

/** Runs `top` in a terminal; the shell around it tells its exit code, and the terminal's settings before and after it. */
async function startTop(gateway: GatewayProcess): Promise<PseudoTerminal> {
  const top = `exec "${process.execPath}" "${command}" top --db "${gateway.databaseFile}"`
  const lines = [
    'stty rows 12 cols 100',
    'echo "before=$(stty -g)"',
    'echo "terminal=$(tty)"',
    `sh -c 'echo "pid=$$."; ${top}'`,
    'echo "code=$?."',
    'echo "after=$(stty -g)"',
  ]
  const env = { ...process.env, TERM: 'xterm', SHELL: '/bin/sh', NO_COLOR: undefined }
  const script = spawn('script', ['-qfc', lines.join('; '), '/dev/null'], { cwd: gateway.directory, env })
  const condition = new Condition()
  let output = ''
  script.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    condition.changed()
  })
  const found = (pattern: RegExp): Promise<string> => {
    const what = `${pattern} on the terminal`
    return condition
      .until(() => pattern.exec(output)?.[1], what)
      .catch((error: unknown) => {
        throw new Error(`${String(error)}: ${JSON.stringify(output.slice(-3000))}`)
      })
  }
  const pid = Number(await found(/pid=(\d+)\./))
  const device = await found(/terminal=(\S+)/)
  return {
    pid,
    get output() {
      return output
    },
    type: (keys) => void script.stdin.write(keys),
    waitFor: async (pattern) => void (await found(new RegExp(`(${pattern.source})`, pattern.flags))),
    waitForNew: async (pattern) => {
      const from = output.length
      await condition.until(() => pattern.exec(output.slice(from)) ?? undefined, `${pattern} anew`)
    },
    waitForFrame: async (what, holds) => {
      const look = (): true | undefined => {
        const frames = output.split('\x1b[H').slice(1)
        // The last one may be on its way.
        const whole = frames.findLast((frame) => frame.includes('\x1b[J')) ?? ''
        return holds(stripVTControlCharacters(whole).split(/\r+\n/)) || undefined
      }
      await condition.until(look, `the terminal ${what}`)
    },
    resize: (rows, columns) =>
      void execFileSync('stty', ['-F', device, 'rows', String(rows), 'cols', String(columns)]),
    [Symbol.asyncDispose]: async () => {
      if (script.exitCode !== null || script.signalCode !== null) return
      script.kill('SIGKILL')
      await once(script, 'close')
    },
  }
}

/** The terminal shows again what it showed, and is set as it was. */
async function assertLeft(terminal: PseudoTerminal, code: number): Promise<void> {
  await terminal.waitFor(new RegExp(`code=${code}\\.`))
  await terminal.waitFor(/after=\S+\s/)
  const { output } = terminal
  assert.equal(output.split('\x1b[?1049h').length, 2)
  assert.equal(output.split(leave).length, 2)
  const [, before] = /before=(\S+)/.exec(output) ?? []
  const [, after] = /after=(\S+)/.exec(output) ?? []
  assert.ok(before !== undefined && before !== '')
  assert.equal(after, before)
}

async function openCall(
  gateway: GatewayProcess,
  upstream: SimulatedUpstream,
  model: string,
): Promise<RawClient> {
  const head = responseHead(200, [
    ['Content-Type', 'text/event-stream'],
    ['Transfer-Encoding', 'chunked'],
  ])
  const event = sseEvent({ choices: [{ index: 0, delta: { content: 'w' }, finish_reason: null }] })
  upstream.replyOnce([write(head), write(chunkFrame(event)), stall()])
  const client = await openRawClient(gateway.port)
  await client.send(
    requestBytes('POST', '/v1/chat/completions', { body: JSON.stringify({ model, stream: true }) }),
  )
  return client
}

test('calls are shown as they are, one is cancelled after a question, and q leaves the terminal as it was', async () => {
  await using upstream = await startSimulatedUpstream()
  await using gateway = await startGatewayProcess({
    upstream: upstream.baseUrl,
    args: ['--max-concurrent', '1'],
  })
  await using first = await openCall(gateway, upstream, 'first\x1b[2J')
  await first.waitForBytes('"w"')
  await using second = await openCall(gateway, upstream, 'second')
  await untilCalls(gateway, { active: 1, queued: 1 })
  await using terminal = await startTop(gateway)
  await terminal.waitFor(/1 of 1 slots.*1 queued/)
  await terminal.waitFor(/streaming.*first\ufffd\[2J/)
  await terminal.waitFor(/queued #1.*second/)

  // The arrows move the mark; no other key than y cancels.
  terminal.type('\x1b[Bc')
  await terminal.waitFor(/Cancel \w{11}, second\?/)
  terminal.type('q')
  await terminal.waitForNew(/up\/down mark/)
  terminal.type('cy')
  await terminal.waitFor(/\w{11} was cancelled\./)
  assert.equal((await second.response()).status, 503)
  await untilCalls(gateway, { active: 1, queued: 0 })

  terminal.resize(8, 40)
  await terminal.waitForFrame(
    'to fit 40 columns',
    (lines) => lines.length === 8 && lines.every((line) => line.length <= 40),
  )
  terminal.type('q')
  await assertLeft(terminal, 0)
  first.reset()
  await untilIdle(gateway)
})

test('SIGTERM, Ctrl-C and the end of the gateway leave the terminal as it was', async () => {
  await using upstream = await startSimulatedUpstream()
  await using gateway = await startGatewayProcess({ upstream: upstream.baseUrl })
  {
    await using terminal = await startTop(gateway)
    await terminal.waitFor(/No call is under way\./)
    process.kill(terminal.pid, 'SIGTERM')
    await assertLeft(terminal, 0)
  }
  {
    await using terminal = await startTop(gateway)
    await terminal.waitFor(/No call is under way\./)
    terminal.type('\x03')
    await assertLeft(terminal, 0)
  }
  await using terminal = await startTop(gateway)
  await terminal.waitFor(/No call is under way\./)
  await gateway.kill9()
  await assertLeft(terminal, 4)
  assert.match(terminal.output, /the gateway has gone away/)
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
    /^1 of 4 slots · 0 queued · .*1 call under way\nstate .*\nstreaming .* only .*\n$/,
  )
  const json = JSON.parse((await run('--json', '--db', gateway.databaseFile)).stdout) as {
    calls: { model: string }[]
  }
  assert.deepEqual(
    json.calls.map(({ model }) => model),
    ['only'],
  )
  await using elsewhere = await makeTempDir()
  const none = await run('--once', '--db', elsewhere.file('telemetry.db'))
  assert.equal(none.code, 4)
  assert.match(none.stderr, /no gateway answers/)
})
