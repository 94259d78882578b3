import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readFileSync, renameSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { parseStat } from '../../src/lib/process/process-identity.ts'

/** Where a fault is brought about. */
export interface FaultPlace {
  /** The gateway's; 0 before it runs. */
  readonly pid: number
  /** Holds the database and all that lies beside it; nothing else is hurt. */
  readonly folder: string
  readonly database: string
  /** Stands outside of the folder. */
  readonly spare: string
}

export interface StorageFault {
  readonly name: string
  /** One of these warnings must come; none where nothing is to be warned of. */
  readonly codes: readonly string[]
  /** The warning goes when the cause is gone; else it stays until the next start, as something may be missed. */
  readonly passes: boolean
  /** Every call must have its row at the end: what was recorded before is still in the file. */
  readonly losesNothing: boolean
  /** A file system of its own, and with it the rights to mount one, is needed; or those to trace a process. */
  readonly needs: 'nothing' | 'mount' | 'trace'
  /** It is there before the gateway is. */
  readonly atStart?: boolean
  /** Brings it about, and answers how to end it. */
  readonly begin: (place: FaultPlace) => Promise<() => Promise<void>>
}

const nothingToEnd = async (): Promise<void> => {}
const common = { passes: true, losesNothing: true, needs: 'nothing' } as const

/** A file's bytes, and the folder's, may be hurt in these ways while a gateway records into it. */
export const storageFaults: readonly StorageFault[] = [
  {
    ...common,
    name: 'every write refused',
    codes: ['database_unavailable', 'disk_full'],
    begin: async ({ pid }) => {
      limitFiles(pid, '1')
      return async () => limitFiles(pid, 'unlimited')
    },
  },
  {
    ...common,
    name: 'locked by another process',
    codes: ['database_locked'],
    begin: async ({ database }) => {
      const other = new DatabaseSync(database, { timeout: 5000 })
      other.exec('BEGIN IMMEDIATE')
      return async () => {
        other.exec('COMMIT')
        other.close()
      }
    },
  },
  {
    ...common,
    name: 'folder moved away, a file in its place',
    codes: ['database_unavailable', 'database_moved'],
    passes: false,
    begin: async ({ pid, folder, spare }) => {
      await whileItStands(pid, () => {
        renameSync(folder, spare)
        writeFileSync(folder, 'a file, no folder')
      })
      return () =>
        whileItStands(pid, () => {
          rmSync(folder)
          renameSync(spare, folder)
        })
    },
  },
  {
    ...common,
    name: 'database deleted',
    codes: ['database_moved'],
    passes: false,
    losesNothing: false,
    begin: async ({ database }) => {
      for (const suffix of ['', '-wal', '-shm']) rmSync(database + suffix, { force: true })
      return nothingToEnd
    },
  },
  {
    ...common,
    name: 'folder deleted',
    codes: ['database_moved'],
    passes: false,
    losesNothing: false,
    begin: async ({ folder }) => {
      rmSync(folder, { recursive: true, maxRetries: 10, retryDelay: 1 })
      return nothingToEnd
    },
  },
  {
    ...common,
    name: 'log deleted',
    codes: ['database_moved'],
    passes: false,
    begin: async ({ database }) => {
      rmSync(`${database}-wal`)
      return nothingToEnd
    },
  },
  {
    ...common,
    name: 'database overwritten with noise',
    codes: ['database_damaged'],
    passes: false,
    losesNothing: false,
    begin: async ({ database }) => {
      // In the file and in the log: what is read next is noise, whichever it is read from.
      for (const path of [database, `${database}-wal`]) {
        writeFileSync(path, Buffer.alloc(statSync(path).size, 0xa5), { flag: 'r+' })
      }
      return nothingToEnd
    },
  },
  {
    ...common,
    name: 'disk full',
    codes: ['disk_full'],
    needs: 'mount',
    begin: async ({ folder }) => {
      const filler = `${folder}/filler`
      const { bavail, bsize } = statfsSync(folder)
      // A little stays, so that it is in the middle of writing that nothing goes any more.
      writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - 64 * 1024)))
      return async () => rmSync(filler)
    },
  },
  {
    ...common,
    name: 'read-only folder at the start',
    codes: ['database_unavailable'],
    atStart: true,
    // Nothing is read-only to root but a file system.
    needs: process.getuid?.() === 0 ? 'mount' : 'nothing',
    begin: async ({ folder }) => {
      if (process.getuid?.() === 0) {
        execFileSync('mount', ['-o', 'remount,ro', folder])
        return async () => void execFileSync('mount', ['-o', 'remount,rw', folder])
      }
      chmodSync(folder, 0o500)
      return async () => chmodSync(folder, 0o700)
    },
  },
  {
    ...common,
    name: 'EIO from every write of the database',
    codes: ['database_unavailable'],
    needs: 'trace',
    begin: ({ pid }) => trace(pid, 'pwrite64:error=EIO'),
  },
  {
    ...common,
    name: 'EIO from every fsync',
    codes: [],
    needs: 'trace',
    begin: ({ pid }) => trace(pid, 'fdatasync,fsync:error=EIO'),
  },
  {
    ...common,
    name: 'every fsync takes 300 ms',
    codes: [],
    needs: 'trace',
    begin: ({ pid }) => trace(pid, 'fdatasync,fsync:delay_exit=300000'),
  },
]

/** Does something of several steps, of which the gateway sees none but the last. */
async function whileItStands(pid: number, work: () => void): Promise<void> {
  process.kill(pid, 'SIGSTOP')
  try {
    while (parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.state !== 'T') await delay(1)
    work()
  } finally {
    process.kill(pid, 'SIGCONT')
  }
}

/** Only the soft limit, which may be raised again without any right. A write beyond it fails with EFBIG. */
function limitFiles(pid: number, bytes: string): void {
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`])
}

/** Lets system calls of a process fail or take their time. That it is watched makes all of its calls slower. */
async function trace(pid: number, inject: string): Promise<() => Promise<void>> {
  const calls = inject.slice(0, inject.indexOf(':'))
  const args = ['-f', '-p', String(pid), '-o', '/dev/null', '-e', `trace=${calls}`, '-e', `inject=${inject}`]
  const tracer: ChildProcess = spawn('strace', args, { stdio: 'ignore' })
  while (!/^TracerPid:\s*[1-9]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))) await delay(5)
  return async () => {
    const ended = once(tracer, 'exit')
    tracer.kill('SIGINT')
    await ended
  }
}
