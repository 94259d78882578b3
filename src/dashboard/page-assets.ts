import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { extname } from 'node:path'

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** A file of the page. */
export interface Asset {
  readonly contentType: string
  readonly etag: string
  readonly content: Buffer
}

/** The files of the page, held in memory: no request ever names a file of the disk. */
export class PageAssets {
  readonly #byName: ReadonlyMap<string, Asset>

  /** Reads the folder once; files of kinds that no page needs are left out. */
  constructor(folder: URL) {
    const names = readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() && extname(entry.name) in contentTypes)
      .map(({ name }) => name)
    this.#byName = new Map(names.map((name) => [name, read(new URL(name, folder))]))
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
      for (const [, mentioned = ''] of text.matchAll(/["'](?:\/assets\/|\.\/)([\w.-]+)["']/g)) {
        if (this.#byName.has(mentioned)) names.add(mentioned)
      }
    }
    return names
  }
}

function read(file: URL): Asset {
  const content = readFileSync(file)
  const etag = `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`
  return { contentType: contentTypes[extname(file.pathname)] ?? 'application/octet-stream', etag, content }
}
