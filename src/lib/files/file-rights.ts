import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  statfsSync,
  type Stats,
} from 'node:fs'
import { dirname, isAbsolute, join, sep } from 'node:path'
import { codeOf, orNull } from '../errors.ts'

/** Why a file or folder cannot be trusted, and the command that fixes it. */
export interface RightsFlaw {
  readonly path: string
  /** Completes "/srv/data …". */
  readonly what: string
  readonly remedy: string
}

/** Linux follows no more symbolic links than this in one path. */
const mostLinks = 40
const writableByAnyone = 0o002
const sticky = 0o1000

/** File systems that keep no rights, and show every file as writable: vfat, exfat, ntfs, ntfs3, 9p (WSL), FUSE. */
const withoutRights: ReadonlySet<number> = new Set([
  0x4d44, 0x2011bab0, 0x5346544e, 0x7366746e, 0x01021997, 0x65735546,
])

/**
 * Why other users could change what is at a path; null if they cannot. The path must belong to this user or
 * root, and not be writable by anyone. The folders above it, and links on the way, must not let others
 * replace it. For a missing path, the folders above it count.
 */
export function rightsFlaw(path: string): RightsFlaw | null {
  for (const { path: place, stats, isLast } of placesOn(path)) {
    const flaw =
      isLast || stats.isSymbolicLink()
        ? flawOf(stats, place)
        : isOpenToAll(stats, place) && (stats.mode & sticky) === 0
          ? openFlaw(stats, place)
          : null
    if (flaw !== null) return flaw
  }
  return null
}

/** Why a file with these attributes cannot be trusted; null if it can. */
export function flawOf(stats: Stats, path: string): RightsFlaw | null {
  if (process.geteuid === undefined) return null
  if (!trustedOwners(process.geteuid()).includes(stats.uid)) {
    const what = `belongs to ${userName(stats.uid)}`
    return {
      path,
      what,
      remedy: `make it yours: chown ${stats.isDirectory() ? '-R ' : ''}${ownName()} ${path}`,
    }
  }
  return isOpenToAll(stats, path) ? openFlaw(stats, path) : null
}

/**
 * Opens a file for writing; a new file is private to its owner. Refuses a symbolic link in the file's place,
 * and another user's file. Throws the system's error, or one for people.
 */
export function openOwnFile(path: string, flags: number): number {
  const { O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants
  let file: number
  try {
    file = openSync(path, flags | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600)
  } catch (error) {
    if (codeOf(error) !== 'ELOOP') throw error
    throw new Error(`${path} is a symbolic link, which is not followed: remove it`, { cause: error })
  }
  try {
    const stats = fstatSync(file)
    if (!stats.isFile()) throw new Error(`${path} is not a regular file`)
    const flaw = flawOf(stats, path)
    if (flaw !== null) throw new Error(flawText(flaw))
    return file
  } catch (error) {
    closeSync(file)
    throw error
  }
}

/** `/srv/data belongs to alice (user 1001): make it yours: …` */
export function flawText({ path, what, remedy }: RightsFlaw): string {
  return `${path} ${what}; ${remedy}`
}

/** `alice (user 1001)`; only the number if no name is known. */
export function userName(id: number): string {
  if (id === 0) return 'root'
  const name = nameIn('/etc/passwd', id)
  return name === null ? `user ${id}` : `${name} (user ${id})`
}

function nameIn(list: string, id: number): string | null {
  const lines = orNull(() => readFileSync(list, 'utf8'))?.split('\n') ?? []
  return lines.map((line) => line.split(':')).find(([, , number]) => number === String(id))?.[0] ?? null
}

/** Returns the ids of the current user, root, and the user who became root by sudo. */
function trustedOwners(userId: number): readonly number[] {
  const { SUDO_UID: caller = '' } = process.env
  return userId === 0 && /^\d+$/.test(caller) ? [0, Number(caller)] : [0, userId]
}

function ownName(): string {
  const userId = process.geteuid?.() ?? 0
  return userId === 0 ? 'root' : (nameIn('/etc/passwd', userId) ?? String(userId))
}

function isOpenToAll(stats: Stats, path: string): boolean {
  // Anyone may write to a device such as /dev/null. Opening refuses anything that is no regular file.
  if (!(stats.isFile() || stats.isDirectory()) || (stats.mode & writableByAnyone) === 0) return false
  return !withoutRights.has(statfsSync(path).type)
}

function openFlaw({ mode }: Stats, path: string): RightsFlaw {
  const isMeantForAll = (mode & sticky) !== 0
  const remedy = isMeantForAll ? 'use a folder of your own in it' : `take that right away: chmod o-w ${path}`
  return { path, what: 'can be written by anyone', remedy }
}

interface Place {
  readonly path: string
  readonly stats: Stats
  /** True for the last entry of the path. */
  readonly isLast: boolean
}

/** The flaw if this user may not read the path, or a folder on the way; else null. */
export function unreadable(path: string): RightsFlaw | null {
  for (const { path: place, stats, isLast } of placesOn(path)) {
    if (stats.isSymbolicLink()) continue
    const mode = (isLast ? constants.R_OK : 0) | (stats.isDirectory() ? constants.X_OK : 0)
    try {
      accessSync(place, mode)
    } catch {
      const what = `belongs to ${userName(stats.uid)}, and ${userName(process.geteuid?.() ?? 0)} may not read it`
      const folder = stats.isDirectory() ? place : dirname(place)
      const remedy = `run this with sudo, or make it yours: sudo chown -R ${ownName()} ${folder}`
      return { path: place, what, remedy }
    }
  }
  return null
}

/** True if this user can create files in a folder. */
export function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Each entry on the way to a path, from the root; links are not resolved. */
function* placesOn(path: string): Generator<Place> {
  if (process.geteuid === undefined) return
  const names = namesIn(isAbsolute(path) ? path : `${process.cwd()}${sep}${path}`)
  let at: string = sep
  yield { path: at, stats: lstatSync(at), isLast: names.length === 0 }
  for (let links = 0, name = names.shift(); name !== undefined && links < mostLinks; name = names.shift()) {
    const next = name === '..' ? dirname(at) : join(at, name)
    const stats = statsOf(next)
    if (stats === null) return
    if (stats.isSymbolicLink()) {
      yield { path: next, stats, isLast: false }
      const target = readlinkSync(next)
      names.unshift(...namesIn(target))
      if (isAbsolute(target)) at = sep
      links++
    } else {
      at = next
      yield { path: at, stats, isLast: names.length === 0 }
    }
  }
}

function namesIn(path: string): string[] {
  return path.split(sep).filter((name) => name !== '' && name !== '.')
}

/** The entry's stats; null if it does not exist or cannot be read. */
function statsOf(path: string): Stats | null {
  return orNull(() => lstatSync(path, { throwIfNoEntry: false })) ?? null
}
