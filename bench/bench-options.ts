import { parseArgs } from 'node:util'
import { type TargetName, defaultTargets, targetNames } from './targets/target.ts'

/** The options of the command line. */
export interface BenchOptions {
  /** Programs to run. */
  readonly names: readonly string[]
  readonly targets: readonly TargetName[]
  readonly rounds: number
  /** Counted time of one target in one round. */
  readonly seconds: number
  /** Connections of P1 and P3, or open streams of P2, P4, P5 and P10; each program's own default unless given. */
  readonly clients: number | undefined
  /** Events per second on each open stream; calls per second in P3, P6 and P11. */
  readonly rate: number | undefined
  /** Pages that poll in P6. */
  readonly pollers: number | undefined
  /** A database of generated calls, for P7 to P11. */
  readonly db: string | undefined
  /** Questions of P7 and P8 whose names hold this. */
  readonly only: string | undefined
  /** True to ask P7 and P8 in plain SQL too. */
  readonly sql: boolean
}

export const usage = `npm run bench -- [names…] [--targets bare,nginx,tokenweir | all] [--rounds 5] [--seconds 3]
                       [--clients N] [--rate events per second and stream, or calls per second in p3, p6 and p11]
                       [--pollers pages in p6]
                       [--db generated database] [--only part of a question] [--no-sql]`

export function parseOptions(args: readonly string[]): BenchOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    allowNegative: true,
    options: {
      targets: { type: 'string', default: defaultTargets.join(',') },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '3' },
      clients: { type: 'string' },
      rate: { type: 'string' },
      pollers: { type: 'string' },
      db: { type: 'string' },
      only: { type: 'string' },
      sql: { type: 'boolean', default: true },
    },
  })
  const asked = values.targets === 'all' ? targetNames : values.targets.split(',')
  const targets = asked.map((text) => {
    const name = targetNames.find((known) => known === text)
    if (name === undefined) throw new Error(`--targets: ${text} is none of ${targetNames.join(', ')}, all`)
    return name
  })
  return {
    names: positionals,
    targets,
    rounds: positive('rounds', values.rounds),
    seconds: positive('seconds', values.seconds),
    clients: values.clients === undefined ? undefined : positive('clients', values.clients),
    rate: values.rate === undefined ? undefined : positive('rate', values.rate),
    pollers: values.pollers === undefined ? undefined : positive('pollers', values.pollers),
    db: values.db,
    only: values.only,
    sql: values.sql,
  }
}

function positive(name: string, text: string): number {
  const value = Number(text)
  if (!(value > 0)) throw new Error(`--${name}: ${text} is not a number above 0`)
  return value
}
