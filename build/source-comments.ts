import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type ESTree, Visitor, parseSync } from 'vite'

const root = fileURLToPath(new URL('..', import.meta.url))

/** A comment: its sentences, and the words behind its tag `@fails`. */
interface Comment {
  readonly doc: string
  readonly fails: readonly string[]
}

const none: Comment = { doc: '', fails: [] }

/**
 * The comments above constants, and above the members of their objects. A member's path is as `AlertsReport.receiver.host`;
 * a route's is its key alone.
 */
export class SourceComments {
  readonly #byPath = new Map<string, Comment>()
  /** By path, the constants whose members an object spreads. */
  readonly #bases = new Map<string, string[]>()

  constructor(...patterns: readonly string[]) {
    for (const file of globSync(patterns, { cwd: root })) this.#read(readFileSync(root + file, 'utf8'))
  }

  at(path: string): Comment {
    return this.#byPath.get(path) ?? none
  }

  /** The path of a member's comment: the member itself, or else the member of the spread constant. */
  memberOf(path: string, name: string): string {
    const own = `${path}.${name}`
    const all = [own, ...(this.#bases.get(path) ?? []).map((base) => this.memberOf(base, name))]
    return (
      all.find((member) => this.at(member).doc !== '') ??
      all.find((member) => this.#byPath.has(member)) ??
      own
    )
  }

  #read(source: string): void {
    const { program, comments } = parseSync('source.ts', source)
    const path: string[] = []
    const enter = (name: string, start: number): void => {
      path.push(name)
      const above = comments.findLast(({ end }) => end <= start)
      const between = above === undefined ? '.' : source.slice(above.end, start)
      const isAbove = /^\s*(?:export )?(?:const |function )?$/.test(between)
      this.#byPath.set(pathOf(path), isAbove ? commentIn(above?.value ?? '') : none)
    }
    const leave = (): void => void path.pop()
    const takeOver = (from: ESTree.Expression | null): void => {
      const base = baseOf(from)
      if (base !== null) this.#bases.set(pathOf(path), [...(this.#bases.get(pathOf(path)) ?? []), base])
    }
    new Visitor({
      VariableDeclarator: ({ id, init, start }) => {
        enter(id.type === 'Identifier' ? id.name : '', start)
        takeOver(init)
      },
      'VariableDeclarator:exit': leave,
      FunctionDeclaration: ({ id, start }) => enter(id?.name ?? '', start),
      'FunctionDeclaration:exit': leave,
      Property: ({ key, start }) => enter(nameOf(key), start),
      'Property:exit': leave,
      SpreadElement: ({ argument }) => takeOver(argument),
    }).visit(program)
  }
}

function pathOf(path: readonly string[]): string {
  const last = path.at(-1) ?? ''
  return last.includes(' /') ? last : path.join('.')
}

function nameOf(key: ESTree.PropertyKey): string {
  return key.type === 'Identifier' ? key.name : 'value' in key ? String(key.value) : ''
}

/** `A` of `A`, `A.entries`, `v.pick(A, …).entries` and `A(…).entries`. */
function baseOf(from: ESTree.Argument | null | undefined): string | null {
  if (from?.type === 'Identifier') return from.name
  if (from?.type === 'MemberExpression') return baseOf(from.object)
  if (from?.type !== 'CallExpression') return null
  return baseOf(from.callee.type === 'Identifier' ? from.callee : from.arguments[0])
}

function commentIn(text: string): Comment {
  const [words = '', fails = ''] = text
    .replaceAll(/^\s*\*+ ?/gm, '')
    .replaceAll(/\{@link (\w+)\}/g, '`$1`')
    .replaceAll(/\n(?!- )/g, ' ')
    .split('@fails')
  return { doc: words.trim(), fails: fails.split(/\s+/).filter((code) => code !== '') }
}
