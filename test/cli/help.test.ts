import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Command } from 'commander'
import { helpWidth } from '../../src/cli/help.ts'
import { commands, helpProgram } from '../../src/cli/main.ts'

/** The help of the program and of every command, by the words that ask for it. */
async function helpAt(
  width: number,
  isAsked?: (name: string) => boolean,
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>()
  let text = ''
  const writeOut = (part: string): void => {
    text += part
  }
  const program = await helpProgram({ getOutHelpWidth: () => width, writeOut }, isAsked)
  const visit = (command: Command, name: string): void => {
    text = ''
    command.outputHelp()
    texts.set(name, text)
    for (const one of command.commands) visit(one, `${name} ${one.name()}`.trim())
  }
  visit(program, '')
  return texts
}

for (const width of [40, 60, 80, 120, 200]) {
  test(`help fits ${width} columns, and leaves no word alone that has room beside the one before it`, async () => {
    for (const [name, text] of await helpAt(width)) {
      for (const line of text.split('\n')) {
        // The address of a price list, and a placeholder, are one word.
        const isOneWord = /^\s*(?:\(default: )?(?:--\S+ )?\S+$/.test(line)
        assert.ok(line.length <= width || isOneWord, `${name}: ${line}`)
        assert.doesNotMatch(line, /\s$|\0|undefined/, name)
      }
      assert.doesNotMatch(text, /\(default:\n/, `${name}: a default stands beside its word`)
    }
  })
}

test('every command has an example that begins with it, and a group among those of the program', async () => {
  const texts = await helpAt(80)
  const [program = ''] = [...texts.values()]
  assert.deepEqual(program.match(/^\w[\w ]*:$/gm), [
    'Options:',
    'Run:',
    'Look:',
    'Change:',
    'Data:',
    'Set up:',
    'Example:',
  ])
  for (const [name, [, load]] of Object.entries(commands)) {
    const { example } = await load()
    const text = texts.get(name) ?? ''
    assert.ok(text.replaceAll(/ \\\n +/g, ' ').includes(`Example:\n  ${example}\n`), text)
    assert.ok(example.includes(`tokenweir ${name.replace(/ list$/, '')}`), example)
    assert.ok(program.includes(`\n  ${name.split(' ')[0]} `), name)
  }
})

test('the help of one command loads no other', async () => {
  const [all, one] = [await helpAt(80), await helpAt(80, (name) => name === 'db check')]
  for (const name of ['', 'db', 'db check']) assert.equal(one.get(name), all.get(name), name)
  assert.doesNotMatch(one.get('calls') ?? '', /--recent/)
})

test('options for the first day stand before the rest', async () => {
  const up = (await helpAt(80)).get('up') ?? ''
  assert.match(up, /Common options:\n {2}--port [^]*--upstream [^]*\n\nMore options:\n/)
  assert.equal(up.match(/options:$/gim)?.length, 2, 'its own help stands with the other options')
})

test('the width is the terminal’s, else COLUMNS, else 80, from 40 to 200', () => {
  const at = (isTTY: boolean, columns: number, variable?: string): number =>
    helpWidth({ isTTY, columns } as NodeJS.WriteStream, { COLUMNS: variable })
  assert.deepEqual(
    [at(true, 97), at(true, 10), at(true, 999), at(true, 0), at(false, 97), at(false, 97, '60')],
    [97, 40, 200, 80, 80, 60],
  )
})
