import { chmodSync, constants, copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { messageOf } from '../../lib/errors.ts'
import { optionTable } from '../../options/option-spec.ts'
import { backUpStore } from '../../store/jobs/back-up-store.ts'
import { database, flag } from '../option-rows.ts'
import type { CommandRun } from '../parse-options.ts'
import { bytes, counted, percent } from '../../lib/number-format.ts'
import { CommandError } from '../exit-code.ts'
import { done } from './database-job.ts'
import { openPart, showProgress } from './output.ts'

export const example = 'tokenweir db backup copy.db'
export const use = 'reads'
export const table = optionTable({
  force: flag('overwrite an existing file'),
  db: database(),
})

export const positional = ['<file>', 'file to write the copy to'] as const

/** Files of the data folder that users set or that cannot be made again: prices, limits, upstreams, alert rules, notes, settings, the salt of fingerprints. */
const otherFiles = [
  'model_costs.json',
  'clients.json',
  'upstreams.json',
  'alerts.json',
  'notes.json',
  'gateway.json',
  '.salt',
]

/** `tokenweir db backup`: copies the database, whether or not a gateway writes to it. */
export const run: CommandRun<typeof table> = async ({ db, force }, { positionals: [file = ''] }) => {
  const { show, clear } = showProgress()
  using part = openPart(file, force)
  const onProgress = (share: number): void => show(() => `copied: ${percent(share)}`)
  const copied = await backUpStore(db, part.path, { onProgress })
    .finally(clear)
    .catch((error: unknown) => {
      throw new CommandError(`${db} cannot be copied to ${file}: ${messageOf(error)}`)
    })
  const calls = done(copied, db)
  const others = copyOthers(dirname(db), `${file}.files`)
  const size = part.publish()
  process.stdout.write(
    `${file}: ${counted(calls, 'call')}, ${bytes(size)}, copied and checked.\n${
      others.length === 0 ? '' : `${file}.files: ${others.join(', ')}\n`
    }`,
  )
}

/**
 * Copies the other files into a folder that only the user can read, and returns their names. Throws the
 * system's errors.
 */
function copyOthers(from: string, to: string): readonly string[] {
  // Copies of an older backup go, also of files that were removed since. A symbolic link is replaced, not followed.
  for (const name of otherFiles) rmSync(join(to, name), { force: true })
  const paths = otherFiles.map((name) => join(from, name)).filter((path) => existsSync(path))
  if (paths.length > 0) mkdirSync(to, { recursive: true, mode: 0o700 })
  return paths.map((path) => {
    const name = basename(path)
    const copy = join(to, name)
    copyFileSync(path, copy, constants.COPYFILE_EXCL)
    chmodSync(copy, 0o600)
    return name
  })
}
