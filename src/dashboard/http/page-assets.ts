import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ContentCoding } from './content.ts'

/** The paths of the page's views: the same file, which reads from its address what to show. */
export const pagePaths: readonly string[] = ['/', '/calls', '/live', '/costs', '/gateway']

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const packedEndings: Readonly<Record<string, ContentCoding>> = { '.br': 'br', '.gz': 'gzip' }

/** A file of the page. */
export interface Asset {
  readonly contentType: string
  /** Of the content, in whichever coding it is sent. */
  readonly tag: string
  readonly content: Buffer
  /** The same, as the build has packed it; none if that would save nothing. */
  readonly packed: ReadonlyMap<ContentCoding, Buffer>
}

/** The files of the page, held in memory: no request ever names a file of the disk. */
export class PageAssets {
  readonly #byName: ReadonlyMap<string, Asset>

  /** Reads the folder once; files of kinds that no page needs are left out. There are none if it is missing. */
  constructor(folder: URL) {
    const names = namesIn(folder)
    const pages = names.filter((name) => extname(name) in contentTypes)
    this.#byName = new Map(pages.map((name) => [name, read(folder, name, names)]))
  }

  /** Whether the page has been built. */
  get isBuilt(): boolean {
    return this.#byName.has('index.html')
  }

  get(name: string): Asset | undefined {
    return this.#byName.get(name)
  }

  /** The names of the files that a page is made of: those that it names, and those that they name. */
  partsOf(page: string): ReadonlySet<string> {
    const names = new Set([page])
    // A set also iterates over what is added on the way.
    for (const name of names) {
      const text = this.#byName.get(name)?.content.toString('utf8') ?? ''
      for (const [, mentioned = ''] of text.matchAll(/["'`](?:\/|\.\/)((?:assets\/)?[\w.-]+)["'`]/g)) {
        for (const part of [mentioned, `assets/${mentioned}`]) if (this.#byName.has(part)) names.add(part)
      }
    }
    return names
  }
}

/** Of all files in there, with a slash between folders; none if it is missing. */
function namesIn(folder: URL): readonly string[] {
  const root = fileURLToPath(folder)
  try {
    return readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => relative(root, join(parentPath, name)).replaceAll(sep, '/'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

function read(folder: URL, name: string, names: readonly string[]): Asset {
  const content = readFileSync(new URL(name, folder))
  const tag = createHash('sha256').update(content).digest('base64url').slice(0, 22)
  const packed = Object.entries(packedEndings)
    .filter(([ending]) => names.includes(name + ending))
    .map(([ending, coding]) => [coding, readFileSync(new URL(name + ending, folder))] as const)
  const contentType = contentTypes[extname(name)] ?? 'application/octet-stream'
  return { contentType, tag, content, packed: new Map(packed) }
}
