import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shortPath } from './control-socket.ts'

const deep = `/srv/${'x'.repeat(90)}/data/gateway.sock`
const cases = [
  ['a short one', '/srv/data/gateway.sock', '/home/user', 'linux', '/srv/data/gateway.sock'],
  ['one below the working directory', '/srv/data/gateway.sock', '/srv', 'linux', 'data/gateway.sock'],
  ['one that is short from here only', deep, `/srv/${'x'.repeat(90)}`, 'linux', 'data/gateway.sock'],
  ['one that is long from everywhere', deep, '/', 'darwin', null],
  ['the longest on Linux', `/${'x'.repeat(106)}`, '/y/z', 'linux', `/${'x'.repeat(106)}`],
  ['one more', `/${'x'.repeat(107)}`, '/y/z', 'linux', null],
  ['the longest on macOS', `/${'x'.repeat(102)}`, '/y/z', 'darwin', `/${'x'.repeat(102)}`],
  ['one more there', `/${'x'.repeat(103)}`, '/y/z', 'darwin', null],
  ['bytes count and not letters', `/${'ü'.repeat(53)}x`, '/y/z', 'linux', null],
] as const

for (const [what, absolute, cwd, platform, expected] of cases) {
  test(`the path of a socket: ${what}`, () => {
    assert.equal(shortPath(absolute, cwd, platform), expected)
  })
}
