import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** What an outsider, or an accident, may put in a file's place; `place` answers what takes it away again. */
export interface HostileFile {
  readonly what: string
  readonly place: (path: string) => Promise<() => void> | (() => void)
}

function content(what: string, bytes: string | Uint8Array): HostileFile {
  return {
    what,
    place: (path) => {
      writeFileSync(path, bytes)
      return () => rmSync(path)
    },
  }
}

const deep = 100_000

/** Files whose content is wrong. */
export const hostileContents: readonly HostileFile[] = [
  content('nothing', ''),
  content('the beginning of JSON', '{"version": 1, "upstreams": [{"na'),
  content('another kind of JSON', '["a", 1e999, null]'),
  content('a name that objects have', '{"__proto__": {"constructor": {"prototype": 1}}, "toString": 7}'),
  content('deep JSON', `${'['.repeat(deep)}${']'.repeat(deep)}`),
  content('deep JSON without an end', '[{"a":'.repeat(deep)),
  content('a deep value', `{"version": 1, "upstreams": ${'[{"a":'.repeat(deep)}1${'}]'.repeat(deep)}}`),
  content('UTF-16', Buffer.from('\uFEFF{"version": 1}', 'utf16le')),
  content('Latin-1', Buffer.from('{"version": 1, "grün": 1}', 'latin1')),
  content('zeros', Buffer.alloc(4096)),
  content('a zero in a name', '{"a\0b": {}}'),
  content(
    'any bytes',
    Uint8Array.from({ length: 4096 }, (_, at) => (at * 167 + 13) % 256),
  ),
  content('a long text', `{"${'x'.repeat(1_500_000)}": "${'y'.repeat(400_000)}"}`),
]

/** What is no file that can be read. */
export const hostileKinds: readonly HostileFile[] = [
  {
    what: 'a named pipe',
    place: (path) => {
      execFileSync('mkfifo', [path])
      return () => rmSync(path)
    },
  },
  {
    what: 'a directory',
    place: (path) => {
      mkdirSync(path)
      return () => rmSync(path, { recursive: true })
    },
  },
  {
    what: 'a device without an end',
    place: (path) => {
      symlinkSync('/dev/zero', path)
      return () => rmSync(path)
    },
  },
  {
    what: 'a terminal',
    place: (path) => {
      symlinkSync('/dev/tty', path)
      return () => rmSync(path)
    },
  },
  {
    what: 'a link to itself',
    place: (path) => {
      symlinkSync(path, path)
      return () => rmSync(path)
    },
  },
  {
    what: 'a socket',
    place: async (path) => {
      const server = createServer().unref()
      await once(server.listen(path), 'listening')
      return () => {
        server.close()
        rmSync(path, { force: true })
      }
    },
  },
  {
    what: '3 GB',
    place: (path) => {
      writeFileSync(path, '')
      truncateSync(path, 3e9)
      return () => rmSync(path)
    },
  },
]
