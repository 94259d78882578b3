import { globSync } from 'node:fs'
import { suite } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

/**
 * Runs all unit tests of a folder in this process: most take a few milliseconds, and a process for each of their files
 * would need as much time again to start. Each file is a suite, so that its hooks are its own.
 */
export function runUnitTests(folder: 'src' | 'ui'): void {
  for (const file of globSync(`${folder}/**/*.test.ts`, { cwd: root }).sort()) {
    void suite(file, async () => void (await import(pathToFileURL(root + file).href)))
  }
}
