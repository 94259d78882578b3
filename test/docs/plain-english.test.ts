import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

const mostWords = 25

/** A sentence begins with a noun, a verb or a condition: these make a clause its subject. */
const badStarts = /^(?:What|That which|Who|Whether|Where|Of|Also)\b(?!.*\?$)/

/** The first words of comments in code, in TypeScript and in its SQL. */
function commentStartsIn(source: string): readonly string[] {
  const starts = source.matchAll(/\/\*\*\s+(?:\* )?(.*)|^ *(?:\/\/|--) (.*)$/gm)
  const isFirst = ({ index }: RegExpExecArray): boolean =>
    !/^ *(?:\/\/|--)/.test(source.slice(0, index).split('\n').at(-2) ?? '')
  return Array.from(starts).flatMap((match) =>
    match[1] !== undefined ? [match[1]] : isFirst(match) ? [match[2] ?? ''] : [],
  )
}

/** A comment names its subject, and says who acts: these words hide both. */
const badInComments = /^(?:It|That|Those|They|Nobody)\b|\b(?:told|anew|somebody|whoever|lent)\b/

/** The comments of TypeScript, without code in backticks. */
function commentsIn(source: string): readonly string[] {
  const found = source.matchAll(/\/\*\*?\s*([^]*?)\*\/|(?:^|\s)\/\/ (.*)$/gm)
  return Array.from(found, ([, block, line]) => (block ?? line ?? '').replaceAll(/`[^`\n]*`/g, 'Code').trim())
}

/** Each has a plain word: "default", "shown", "used", "say". */
const badWords =
  /\b(?:unless (?:told|given)|that which|nothing of|lent|lends|(?:is|are|be) told|so many|goes before)\b/

/** The sentences of a page: of paragraphs, list items and cells, with code as one word and links as their text; headings are none. */
function sentencesOf(markdown: string): readonly string[] {
  const prose = markdown
    .replaceAll(/^ *```[^]*?^ *```$/gm, '')
    .replaceAll(/^#.*$|<[a-z/][^>]*>/gm, '')
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/`[^`\n]*`/g, 'Code')
  return prose
    .split(/\n\s*\n|\n(?= *(?:[*|-]|\d+\.) ?)|(?<!\\)\|/)
    .flatMap((block) => block.replaceAll(/\s+/g, ' ').split(/(?<=[.!?][*)"”]*) (?=[*("“]*[A-Z])/))
    .map((sentence) => sentence.replace(/^[\s*#>-]+|^\s*\d+\. /g, '').trim())
}

/** Of the longest part between colons and semicolons, without asides; an enumeration is read member by member. */
function wordsIn(sentence: string): number {
  const parts = sentence.replaceAll(/\([^()]*\)/g, '').split(/[:;]/)
  const counts = parts.map((part) => {
    const words = part.split(/\s+/).filter((word) => /\w/.test(word)).length
    const members = part.split(',').length
    return words / members < 3.5 ? 0 : words
  })
  return Math.max(...counts)
}

function offendersIn(markdown: string): readonly string[] {
  return sentencesOf(markdown).filter(
    (sentence) => wordsIn(sentence) > mostWords || badStarts.test(sentence) || badWords.test(sentence),
  )
}

test('sentences that are hard to read are found, and no others', () => {
  const long = `The gateway ${'very '.repeat(mostWords)}slowly answers.`
  const bad = [
    long,
    'What is not a POST infers nothing.',
    'Calls are listed, 20 unless told.',
    '| a | Who calls. |',
  ]
  for (const text of bad) assert.equal(offendersIn(text).length, 1, text)
  const good = [
    'What is a weir?',
    'Only a POST infers. A GET does not.',
    '`Where` is code.',
    'Official names stay.',
  ]
  for (const text of good) assert.deepEqual(offendersIn(text), [], text)
})

test('the docs are in plain sentences', () => {
  const pages = globSync('{README,CONTRIBUTING,CHANGELOG,docs/**/*}.md', { cwd: root })
  assert.ok(pages.length > 30)
  for (const page of pages) {
    const offenders = offendersIn(readFileSync(root + page, 'utf8'))
    assert.deepEqual(offenders, [], page)
  }
})

test('comments in the code begin with their subject', () => {
  assert.deepEqual(commentStartsIn('/** Where calls go. */\n// One\n// What follows.\nlet a = 1'), [
    'Where calls go. */',
    'One',
  ])
  const files = globSync('src/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'))
  assert.ok(files.length > 500)
  const offenders = files.flatMap((file) =>
    commentStartsIn(readFileSync(root + file, 'utf8'))
      .filter((start) => badStarts.test(start))
      .map((start) => `${file}: ${start}`),
  )
  assert.deepEqual(offenders, [])
})

test('comments in the code say who acts', () => {
  assert.deepEqual(commentsIn('/** The call is told. */\nlet a = `x` // It ends.\n// A `told` call.'), [
    'The call is told.',
    'It ends.',
    'A Code call.',
  ])
  const files = globSync('{src,ui}/**/*.{ts,tsx}', { cwd: root }).filter(
    (file) => !/\.test\.tsx?$/.test(file),
  )
  assert.ok(files.length > 700)
  const offenders = files.flatMap((file) =>
    commentsIn(readFileSync(root + file, 'utf8'))
      .filter((comment) => badInComments.test(comment))
      .map((comment) => `${file}: ${comment}`),
  )
  assert.deepEqual(offenders, [])
})
