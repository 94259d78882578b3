import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { orNullIfMissing } from '../../lib/errors.ts'
import { fileBehind } from '../../lib/files/file-behind.ts'
import { readText } from '../../lib/files/read-file.ts'
import { replaceFile } from '../../lib/files/replace-file.ts'
import { ClientsFile } from '../../options/clients-file.ts'
import { lockPriceFile, priceFileOf, readPriceFile, shippedPriceFile } from '../../pricing/price-file.ts'
import type { ShareState } from '../../store/share/share-state.ts'
import { timeText } from '../../store/sqlite/store-files.ts'
import type { SharedDatabase } from './shared-database.ts'

const lockMs = 1000
const settledMs = 2000
const mostBytes = 32 * 2 ** 20

interface SharedFile {
  readonly name: string
  readonly path: string
  /** Returns the file's problem; null if it is valid. A broken file is not shared. */
  readonly problem: () => string | null
}

/**
 * Keeps the files of prices and of clients' limits equal beside all databases. A version that counts changes,
 * and the hash of the last synced text, decide which side is newer. Clocks do not.
 */
export function sharedFiles(
  database: SharedDatabase,
  state: ShareState,
  path: string,
  warn: (message: string) => void,
): (wallTimeMs: number) => Promise<void> {
  const prices = priceFileOf(path)
  const clients = new ClientsFile(dirname(path))
  const files: readonly SharedFile[] = [
    {
      name: 'model_costs.json',
      path: prices,
      problem: () => {
        const read = readPriceFile(prices)
        return 'problem' in read ? read.problem.message : null
      },
    },
    {
      name: 'clients.json',
      path: join(dirname(path), 'clients.json'),
      problem: () => {
        clients.reloadIfChanged()
        return clients.problem
      },
    },
  ]
  const syncedStats = new Map<string, string>()
  return sync

  /** Copies each change to the other side. */
  async function sync(wallTimeMs: number): Promise<void> {
    const rows = await database.query('SELECT name, version FROM tokenweir.files')
    const versions = new Map(rows.map(([name, version]) => [String(name), Number(version)]))
    for (const file of files) {
      const synced = state.file(file.name)
      const version = versions.get(file.name) ?? 0
      const key = keyOf(file.path, wallTimeMs)
      if (key !== null && (synced?.version ?? 0) === version && syncedStats.get(file.name) === key) continue
      // A price file is read and written under its lock, because other processes may change it.
      using lock = file.name === 'clients.json' ? null : await lockPriceFile(file.path, lockMs)
      if (lock === null && file.name !== 'clients.json') continue
      await syncFile(file, version, wallTimeMs)
      if (key !== null) syncedStats.set(file.name, key)
    }
  }

  async function syncFile(file: SharedFile, version: number, wallTimeMs: number): Promise<void> {
    const { name, path } = file
    const synced = state.file(name)
    const text = read(path)
    const hash = text === null ? '' : hashOf(text)
    const isChanged = text !== null && hash !== (synced?.hash ?? '')
    if (version === (synced?.version ?? 0)) {
      if (!isChanged || file.problem() !== null || (synced === null && text === read(shippedPriceFile())))
        return
      const put = `INSERT INTO tokenweir.files AS f VALUES ($1, 1, $3)
        ON CONFLICT (name) DO UPDATE SET version = f.version + 1, body = excluded.body
        WHERE f.version = $2 RETURNING version`
      const [row] = await database.query(put, [name, version, text])
      // If another gateway was faster, the next sync finds its version.
      if (row !== undefined) state.setFile(name, Number(row[0]), hash)
      return
    }
    const sql = 'SELECT version, body FROM tokenweir.files WHERE name = $1'
    const [row] = await database.query(sql, [name])
    if (row === undefined) {
      state.forgetFile(name)
      return
    }
    const body = String(row[1])
    const itsHash = hashOf(body)
    if (isChanged && hash !== itsHash && text !== read(shippedPriceFile())) {
      const copy = `${path}.conflict-${timeText(wallTimeMs)}`
      replaceFile(copy, text)
      warn(
        `${path} was changed here and elsewhere: the shared database's version is used, and this one is kept as ${copy}`,
      )
    }
    if (hash !== itsHash) replaceFile(fileBehind(path), body)
    state.setFile(name, Number(row[0]), itsHash)
  }
}

function read(path: string): string | null {
  return orNullIfMissing(() => readText(path, mostBytes))
}

/** The state of a file; null if it was just written, because another change could have the same time. */
function keyOf(path: string, wallTimeMs: number): string | null {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return ''
  return wallTimeMs - stats.mtimeMs < settledMs ? null : `${stats.ino} ${stats.mtimeMs} ${stats.size}`
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
