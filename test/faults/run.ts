/**
 * Every program and test that measures a figure of `docs/internals/reliability.md`, one after the other, and their table:
 * `npm run test:faults [-- --only R14,R16] [--quick]`. Some forty minutes, a minute with `--quick`; what takes longer, R45 and
 * R60, only where it is named. `npm run test:faults -- limits` and `-- chaos --minutes 30` run one program with a table of its
 * own. Ends with 1 where a figure does not hold.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type MeasuredFigure, figureList } from './figure-list.ts'

const ownTables: Readonly<Record<string, string>> = { limits: './minute-limits.ts', chaos: './chaos.ts' }
const ownTable = ownTables[process.argv[2] ?? '']
if (ownTable !== undefined) {
  process.argv.splice(2, 1)
  await import(ownTable)
  process.exit()
}
const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, quick: { type: 'boolean', default: false } },
})
const root = fileURLToPath(new URL('../../', import.meta.url))
const wanted = values.only === '' ? null : new Set(values.only.split(','))

interface Measured {
  readonly holds: boolean
  readonly words: string
  readonly tookS: number
}

/** Tests assert their times where nothing else keeps the machine busy. */
const times = values.quick ? {} : { TOKENWEIR_TIMES: '1' }

/** Lines kept of a program that failed. */
const lastLines = 20

async function measure(args: readonly string[], limitMs: number): Promise<Measured> {
  const startedMs = performance.now()
  const child = spawn(process.execPath, args, {
    cwd: root,
    // A test that is started by a test would else tell that one of its results.
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, ...times },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
  }
  const limit = setTimeout(() => child.kill('SIGKILL'), limitMs)
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  clearTimeout(limit)
  const tookS = (performance.now() - startedMs) / 1000
  if (code !== 0) console.error(text.split('\n').slice(-lastLines).join('\n'))
  const tests = /^# pass (\d+)$/m.exec(text)?.[1]
  const last = text.trim().split('\n').at(-1) ?? ''
  const told = /^measured: (.*)$/m.exec(text)?.[1] ?? (tests === undefined ? last : `${tests} tests hold`)
  const fault = signal === 'SIGKILL' ? 'it did not end in time' : `it ended with ${code ?? signal}`
  return { holds: code === 0, words: code === 0 ? told : `${told}; ${fault}`, tookS }
}

function commandOf({ run, quick }: MeasuredFigure): readonly string[] | null {
  return values.quick ? quick : run
}

const lines: string[] = []
for (const figure of figureList) {
  const command = commandOf(figure)
  const isWanted =
    wanted === null
      ? values.quick || figure.isOnlyNamed !== true
      : figure.figures.some((name) => wanted.has(name))
  if (command === null || !isWanted) continue
  console.error(`${figure.figures.join(', ')}: node ${command.join(' ')}`)
  const { holds, words, tookS } = await measure(command, figure.limitMs)
  if (!holds) process.exitCode = 1
  lines.push(
    `| ${figure.figures.join(', ')} | ${figure.goal} | ${holds ? '✓' : '✗'} ${words} | ${tookS.toFixed(0)} |`,
  )
}
console.log(['| figure | goal | measured | s |', '|---|---|---|---|', ...lines].join('\n'))
