import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import type { ValidatedJsonFile } from '../../src/options/validated-json-file.ts'
import { makeTempDir } from './temp-dir.ts'

/** Tests that each of these texts is told with its flaw, that the last good content holds, and that nothing writes over it. */
export function testBroken<T extends ValidatedJsonFile<object>>(
  make: (folder: string) => T,
  change: (file: T) => Promise<unknown>,
  code: string,
  broken: readonly (readonly [text: string, flaw: RegExp])[],
): void {
  for (const [text, flaw] of broken) {
    test(`${flaw.source} is told of ${JSON.stringify(text.slice(0, 40))}, and what was good holds, also after a restart`, async () => {
      await using dir = await makeTempDir()
      const [file, next, last] = [make(dir.path), make(dir.path), make(dir.path)]
      await change(file)
      const good = file.content
      writeFileSync(file.path, text)
      for (const each of [file, next]) {
        assert.ok(each.reloadIfChanged())
        assert.match(each.problem ?? '', flaw)
        assert.deepEqual(each.content, good)
        await assert.rejects(change(each), { code, name: 'JsonFileError' })
      }
      assert.equal(readFileSync(file.path, 'utf8'), text)
      rmSync(file.path)
      for (const each of [file, last]) each.reloadIfChanged()
      assert.match(file.problem ?? '', /\.json was deleted; the next start will not use it/)
      assert.deepEqual([file.content, last.problem], [good, null])
    })
  }
}
