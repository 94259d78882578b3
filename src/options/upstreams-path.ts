import { basename, join, resolve } from 'node:path'
import { orNull } from '../lib/errors.ts'
import { readText } from '../lib/files/read-file.ts'

/** The path of the file of upstreams. A bare name means a file beside the database. */
export function upstreamsPath(file: string, dataFolder: string): string {
  return basename(file) === file ? join(dataFolder, file) : file
}

/** The same file, named so that it is right in any working folder. A bare name stays. */
export function fileOfUpstreams(file: string): string {
  return basename(file) === file ? file : resolve(file)
}

/** The variables that the file, or its last good content, names. A started gateway needs them. */
export function variablesNamedIn(path: string): readonly string[] {
  const texts = [path, `${path}.good`].map((file) => orNull(() => readText(file)) ?? '')
  const names = texts.flatMap((text) =>
    [...text.matchAll(/"env"\s*:\s*"(\w+)"/g)].map(([, name = '']) => name),
  )
  return [...new Set(names)]
}
