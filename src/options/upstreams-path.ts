import { basename, join, resolve } from 'node:path'
import { readText } from '../lib/files/read-file.ts'

/** The path of the file of upstreams: a bare name is beside the database. */
export function upstreamsPath(file: string, dataFolder: string): string {
  return basename(file) === file ? join(dataFolder, file) : file
}

/** The same file, as one would have to name it in any folder: a name alone stays one. */
export function fileOfUpstreams(file: string): string {
  return basename(file) === file ? file : resolve(file)
}

/** The variables that the file names, and its last good content: a gateway that is started is to have them. */
export function variablesNamedIn(path: string): readonly string[] {
  const texts = [path, `${path}.good`].map((each) => {
    try {
      return readText(each)
    } catch {
      return ''
    }
  })
  const names = texts.flatMap((text) =>
    [...text.matchAll(/"env"\s*:\s*"(\w+)"/g)].map(([, name = '']) => name),
  )
  return [...new Set(names)]
}
