import { resolve } from 'node:path'
import { optionTable } from '../../options/option-spec.ts'
import { toggle } from '../../options/value-kind.ts'
import { JobError } from '../../supervisor/run-job.ts'
import { database, flag, value } from '../option-rows.ts'
import { type CommandRun, OptionError } from '../parse-options.ts'
import { shareAddress } from '../share-rows.ts'
import { counted } from '../../lib/number-format.ts'
import { done, runDatabaseJob } from './database-job.ts'

export const example = 'tokenweir db move --to-share'
export const use = 'acts'
export const table = optionTable({
  toShare: value(toggle, false, 'send all calls to the PostgreSQL whose address is in TOKENWEIR_SHARE'),
  db: database(),
  json: flag('print JSON, one object per line'),
})

/** `tokenweir db move --to-share`: sends the rows of a file to the shared database. */
export const run: CommandRun<typeof table> = async ({ db, json, toShare }, { env, terminal }) => {
  if (!toShare) throw new OptionError('db move needs --to-share')
  const address = shareAddress(env)
  const { moveRows } = await import('../../share/rows/move-rows.ts')
  const { connectRows } = await import('../../share/rows/row-connection.ts')
  const whatStays = 'Calls sent so far stay sent. Run it again to continue.'
  return await runDatabaseJob(terminal, { db, json, whatStays }, async (report) => {
    const settings = {
      path: resolve(db),
      connect: () => connectRows(address),
      shareDays: null,
      clock: terminal.clock,
      warn: (line: string) => terminal.warn(`tokenweir: ${line}\n`),
    }
    const outcome = await moveRows(settings, (progress) => {
      report({ json: { progress }, text: `sent: ${progress.done} of ${counted(progress.total, 'call')}` })
    })
    const { calls, shared_calls: there } = done(outcome, db)
    if (calls !== there) {
      const message = `${db} holds ${counted(calls, 'call')}, and the shared database ${there} of them. Run it again.`
      throw new JobError('job_failed', message)
    }
    return {
      json: { calls, shared_calls: there },
      text: `${db}: ${counted(calls, 'call')} here, all of them in the shared database.\n`,
    }
  })
}
