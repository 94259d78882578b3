import { type DocumentNode, parse, type ValueNode } from '@humanwhocodes/momoa'
import { messageOf, orNull } from '../lib/errors.ts'

/** A place in a text, counted from one; null if unknown. */
export interface TextPlace {
  readonly line: number | null
  readonly column: number | null
}

/** The path to a value: names of members and indexes of elements. */
export type JsonPath = readonly (string | number)[]

export type JsonReading = { readonly value: unknown } | ({ readonly message: string } & TextPlace)

const nowhere: TextPlace = { line: null, column: null }

/** Deepest nesting that is read. People write no deeper JSON, which could exhaust the stack. */
const deepest = 64

/**
 * Reads JSON as `JSON.parse` does, and says where it is wrong. A duplicate name in an object is an error,
 * too. Never throws.
 */
export function readJson(text: string): JsonReading {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return syntaxProblem(text, error)
  }
  const members = countMembers(value, 0)
  if (members === null) return { message: `It is nested more than ${deepest} levels deep.`, ...nowhere }
  // JSON.parse keeps only one of two members with the same name.
  return members === countNames(text) ? { value } : duplicateProblem(text)
}

/** The place of the value at a path, or of its member's name. The text must be JSON. */
export function placeInJson(text: string, path: JsonPath, of: 'name' | 'value'): TextPlace {
  let node = document(text)?.body
  let place = node?.loc.start
  for (const step of path) {
    if (node?.type === 'Array' && typeof step === 'number') node = node.elements[step]?.value
    else if (node?.type === 'Object') {
      const member = node.members.find(({ name }) => nameOf(name) === step)
      node = member?.value
      if (of === 'name' && member !== undefined) {
        place = member.name.loc.start
        continue
      }
    } else node = undefined
    // For a missing value, the place of its parent is used.
    if (node !== undefined) place = node.loc.start
  }
  return place === undefined ? nowhere : { line: place.line, column: place.column }
}

function document(text: string): DocumentNode | null {
  return orNull(() => parse(text))
}

/** The engine's message, with the place from the message or else from the library. */
function syntaxProblem(text: string, error: unknown): JsonReading {
  const message = messageOf(error)
  const [, words = '', position] = /^(.*?)(?: in JSON)? at position (\d+)/s.exec(message) ?? []
  const end = text.trimEnd().length
  const offset = message.startsWith('Unexpected end') ? end : Number(position)
  if (offset >= end) return notJson('it ends too early', placeAt(text, end))
  if (words !== '') return notJson(words[0]?.toLowerCase() + words.slice(1), placeAt(text, offset))
  const [, token = 'something'] = /^Unexpected token ('.')/su.exec(message) ?? []
  try {
    parse(text)
  } catch (fault) {
    const { line, column } = fault as Partial<TextPlace>
    if (typeof line === 'number' && typeof column === 'number') {
      return notJson(`${token} is out of place`, { line, column })
    }
  }
  return notJson(message, nowhere)
}

function notJson(why: string, place: TextPlace): JsonReading {
  return { message: `It is not JSON: ${why}.`, ...place }
}

function placeAt(text: string, offset: number): TextPlace {
  const before = text.slice(0, offset).split('\n')
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}

function duplicateProblem(text: string): JsonReading {
  const duplicate = duplicateIn(document(text)?.body)
  if (duplicate === null) return { message: 'A name is twice in one object.', ...nowhere }
  const { line, column } = duplicate.place
  return { message: `The name ${JSON.stringify(duplicate.name)} is twice in one object.`, line, column }
}

function duplicateIn(node: ValueNode | undefined): { name: string; place: TextPlace } | null {
  const names = new Set<string>()
  const inner: ValueNode[] = node?.type === 'Array' ? node.elements.map(({ value }) => value) : []
  for (const { name, value } of node?.type === 'Object' ? node.members : []) {
    const text = nameOf(name)
    if (names.has(text)) return { name: text, place: name.loc.start }
    names.add(text)
    inner.push(value)
  }
  for (const value of inner) {
    const duplicate = duplicateIn(value)
    if (duplicate !== null) return duplicate
  }
  return null
}

function nameOf(name: { type: 'String'; value: string } | { type: 'Identifier'; name: string }): string {
  return name.type === 'String' ? name.value : name.name
}

/** The number of members of all objects in a value; null if it is nested too deeply. */
function countMembers(value: unknown, depth: number): number | null {
  if (typeof value !== 'object' || value === null) return 0
  if (depth > deepest) return null
  const inner = Object.values(value)
  let count = Array.isArray(value) ? 0 : inner.length
  for (const member of inner) {
    const members = countMembers(member, depth + 1)
    if (members === null) return null
    count += members
  }
  return count
}

/** The number of strings in valid JSON before a colon: the names. */
function countNames(text: string): number {
  return text
    .replaceAll(/\\./g, '')
    .matchAll(/"[^"]*"(\s*:)?/g)
    .reduce((count, [, colon]) => (colon === undefined ? count : count + 1), 0)
}
