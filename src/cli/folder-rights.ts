import { lstatSync, readdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { orNull } from '../lib/errors.ts'
import { flawOf, flawText, rightsFlaw, type RightsFlaw, unreadable } from '../lib/files/file-rights.ts'
import { upstreamsPath } from '../options/upstreams-path.ts'
import { CommandError } from './exit-code.ts'

/**
 * A command's use of the data folder.
 * - `reads`: the command may use the running gateway's folder instead.
 * - `acts`: the command changes files or sends keys, so it uses this folder or a named one.
 * - `serves`: the command applies the files.
 */
export type FolderUse = 'none' | 'reads' | 'acts' | 'serves'

/** Files that set up a gateway, or that it writes to. */
const settingsFile =
  /^(?:\.salt|\.proxy\.pid|(?:alerts|clients|gateway|model_costs|notes|upstreams)[.\w-]*\.json.*|proxy\.log.*|(?:instance|share)-\d+\.lock)$/

/**
 * Throws {@link CommandError} if a file that the command needs is unreadable, or if other users could have
 * written it.
 */
export function checkFolders(use: FolderUse, options: object): void {
  const { db, rawLogFile, upstreamFile } = options as {
    readonly db?: string
    readonly rawLogFile?: string
    readonly upstreamFile?: string
  }
  if (db === undefined || use === 'none') return
  const folder = dirname(db)
  for (const path of use === 'serves' ? [folder] : [folder, db]) refuse(unreadable(path))
  if (use === 'reads') return
  refuse(folderFlaw(folder))
  if (upstreamFile !== undefined) refuse(fileFlaw(upstreamsPath(upstreamFile, folder)))
  if (rawLogFile !== undefined) refuse(rightsFlaw(dirname(rawLogFile)))
}

/** Why other users can change the files of a gateway of this folder; null if only this user and root can. */
export function folderFlaw(folder: string): RightsFlaw | null {
  const flaw = rightsFlaw(folder)
  if (flaw !== null || !isFolder(folder)) return flaw
  for (const name of readdirSync(folder)) {
    const flaw = settingsFile.test(name) ? fileFlaw(join(folder, name)) : null
    if (flaw !== null) return flaw
  }
  return null
}

/** The flaw of a file, or of a symbolic link in its place. A missing file has no flaw. */
function fileFlaw(path: string): RightsFlaw | null {
  const stats = [lstatSync, statSync].map(
    (look) => orNull(() => look(path, { throwIfNoEntry: false })) ?? null,
  )
  return stats.reduce<RightsFlaw | null>(
    (flaw, entry) => flaw ?? (entry === null ? null : flawOf(entry, resolve(path))),
    null,
  )
}

function isFolder(path: string): boolean {
  return orNull(() => statSync(path, { throwIfNoEntry: false }))?.isDirectory() ?? false
}

function refuse(flaw: RightsFlaw | null): void {
  if (flaw !== null) throw new CommandError(flawText(flaw))
}
