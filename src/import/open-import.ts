import { olderProxyRows } from '../store/read/older-proxy-rows.ts'
import { isOlderProxy, olderProxyCalls } from '../store/sqlite/older-proxy.ts'
import type { ImportSource } from './forms.ts'
import { callsOf, type NamedRecord, type ReadCalls, readText } from './read-import.ts'
import { fileHead, ImportError, openText } from './text-blocks.ts'

/** An open file to import, and how much of it was read. */
export interface OpenImport extends ReadCalls {
  readonly progress: () => { readonly done: number; readonly total: number }
}

/** Opens an import. The source is detected if `named` is null. Rejects with {@link ImportError}. */
export async function openImport(path: string, chosenSource: ImportSource | null): Promise<OpenImport> {
  const head = await fileHead(path)
  if (head.size === 0) throw new ImportError(`${path} is empty`)
  if (!head.first.toString('latin1').startsWith('SQLite format 3')) {
    const { file, blocks } = openText(head)
    const progress = (): ReturnType<OpenImport['progress']> => ({ done: file.bytesRead, total: head.size })
    const calls = await readText(blocks, chosenSource).catch((error: unknown) => {
      throw error instanceof ImportError ? new ImportError(`${path}: ${error.message}`) : error
    })
    return { ...calls, progress }
  }
  if (!isOlderProxy(path)) {
    throw new ImportError(
      `${path} is a database, and not that of the older Python proxy; of tokenweir’s own, import what db export writes`,
    )
  }
  if (chosenSource !== null && chosenSource !== 'api-calls')
    throw new ImportError(`${path} is not of ${chosenSource} but of api-calls`)
  const total = olderProxyCalls(path) ?? 0
  let done = 0
  async function* records(): AsyncGenerator<NamedRecord> {
    for (const { line, ...fields } of olderProxyRows(path)) {
      done++
      yield { line: Number(line), fields, problem: '' }
    }
  }
  return { source: 'api-calls', calls: callsOf(records(), 'api-calls'), progress: () => ({ done, total }) }
}
