import assert from 'node:assert/strict'
import { exitCodeOf } from '../../src/cli/exit-code.ts'
import { messageOf } from '../../src/lib/errors.ts'

/** For `assert.rejects`: what a command ends with this exit code for, in words that `tokenweir: ` stands before. */
export function commandFault(words: RegExp, code = 1): (error: unknown) => true {
  return (error) => {
    assert.equal(exitCodeOf(error), code)
    assert.match(messageOf(error), words)
    return true
  }
}
