import {
  API,
  type Checker,
  type Project,
  SymbolFlags,
  type Symbol as TypeSymbol,
  type Type,
} from 'typescript/unstable/sync'
import { fileURLToPath } from 'node:url'
import type { JsonSchema } from '../src/options/json-schema.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** A comment. */
interface Words {
  readonly doc: string
  /** Behind its tag `@fails`. */
  readonly fails: readonly string[]
}

/** A member of a type. */
interface Member extends Words {
  readonly name: string
  readonly type: Type
  readonly isOptional: boolean
}

/** The types of `src` as JSON schemas, of which those that have a name of their own are components. */
export class TypeSchemas implements Disposable {
  readonly components: Record<string, JsonSchema> = {}
  readonly #api = new API({ cwd: root })
  readonly #project: Project
  readonly #checker: Checker
  /** By the names of components: two types must not share one. */
  readonly #named = new Map<string, number>()

  constructor() {
    const config = `${root}tsconfig.build.json`
    const project = this.#api.updateSnapshot({ openProjects: [config] }).getProject(config)
    if (project === undefined) throw new Error(`${config} is no project`)
    this.#project = project
    this.#checker = project.checker
  }

  [Symbol.dispose](): void {
    this.#api.close()
  }

  /** A type that a file of `src` exports. */
  named(file: string, name: string): Type {
    const source = this.#project.program.getSourceFile(`${root}src/${file}`)
    const module = source === undefined ? undefined : this.#checker.getSymbolAtLocation(source)
    const symbol = module && this.#checker.getMemberInModuleExports(module, name)
    if (symbol === undefined) throw new Error(`src/${file} exports no ${name}`)
    return this.#checker.getDeclaredTypeOfSymbol(symbol)
  }

  members(type: Type): readonly Member[] {
    return this.#checker.getPropertiesOfType(type).map((symbol) => {
      const own = this.#checker.getTypeOfSymbol(symbol)
      if (own === undefined) throw new Error(`${symbol.name} has no type`)
      const isOptional = (symbol.flags & SymbolFlags.Optional) !== 0
      return Object.assign(this.#said(symbol), { name: symbol.name, type: own, isOptional })
    })
  }

  /** The words of the type itself. */
  about(type: Type): Words {
    const symbol = type.getAliasSymbol() ?? type.getSymbol()
    return symbol === undefined ? { doc: '', fails: [] } : this.#said(symbol)
  }

  /** A schema of a type, or a reference to the component that is one. */
  of(type: Type): JsonSchema {
    const symbol = type.getAliasSymbol() ?? (type.isObjectType() ? type.getSymbol() : undefined)
    const name = symbol?.name ?? ''
    const isOurs = symbol?.declarations.some(({ path }) => path.startsWith(`${root}src/`)) === true
    const isGeneric = type.getAliasTypeArguments().length > 0
    if (!isOurs || isGeneric || name.startsWith('__')) return this.#inline(type)
    const known = this.#named.get(name)
    if (known !== undefined && known !== type.id) throw new Error(`two types have the name ${name}`)
    if (known === undefined) {
      this.#named.set(name, type.id)
      const { doc } = this.about(type)
      this.components[name] = { ...this.#inline(type), ...(doc === '' ? {} : { description: doc }) }
    }
    return { $ref: `#/components/schemas/${name}` }
  }

  #said(symbol: TypeSymbol): Words {
    const text = symbol.getDocumentationComment(this.#checker)
    const doc = text
      .replaceAll(/\{@link (\w+)\}/g, '`$1`')
      .replaceAll(/\n(?!- )/g, ' ')
      .trim()
    const tag = symbol.getJsDocTags(this.#checker).find(({ name }) => name === 'fails')
    return { doc, fails: tag?.text?.trim().split(/\s+/) ?? [] }
  }

  #inline(type: Type): JsonSchema {
    const text = this.#checker.typeToString(type)
    if (type.isUnionType()) return this.#union(type.getTypes())
    if (type.isLiteralType()) return { const: type.value }
    if (text === 'true' || text === 'false') return { const: text === 'true' }
    if (['string', 'number', 'boolean', 'null'].includes(text)) return { type: text }
    if (text === 'unknown') return {}
    if (this.#checker.isArrayLikeType(type) && type.isTypeReference()) {
      const [element] = this.#checker.getTypeArguments(type)
      if (element !== undefined) return { type: 'array', items: this.of(element) }
    }
    if (type.isObjectType() || type.isIntersectionType()) return this.#object(type)
    throw new Error(`${text} has no schema`)
  }

  #object(type: Type): JsonSchema {
    const members = this.members(type)
    const [index] = this.#checker.getIndexInfosOfType(type)
    const properties = members.map(({ name, doc, type: own }) => {
      const description = doc === '' ? {} : { description: doc }
      return [name, { ...this.of(own), ...description }] as const
    })
    const required = members.filter(({ isOptional }) => !isOptional).map(({ name }) => name)
    return {
      type: 'object',
      ...(members.length === 0 ? {} : { properties: Object.fromEntries(properties) }),
      ...(required.length === 0 ? {} : { required }),
      ...(index === undefined ? {} : { additionalProperties: this.of(index.valueType) }),
    }
  }

  #union(types: readonly Type[]): JsonSchema {
    const all = types.filter((type) => this.#checker.typeToString(type) !== 'undefined')
    const schemas = all.map((type) => this.of(type))
    const values = schemas.filter((schema) => 'const' in schema).map((schema) => schema['const'])
    const others = schemas.filter((schema) => !('const' in schema) && schema['type'] !== 'null')
    const isNullable = schemas.some((schema) => schema['type'] === 'null')
    const isFlag = values.includes(true) && values.includes(false)
    const ofValues = isFlag ? [{ type: 'boolean' }] : [{ enum: values }]
    const parts: JsonSchema[] = [...(values.length === 0 ? [] : ofValues), ...others]
    const [only] = parts
    if (parts.length > 1 || only === undefined) {
      return { anyOf: [...parts, ...(isNullable ? [{ type: 'null' }] : [])] }
    }
    if (!isNullable) return only
    if ('enum' in only) return { enum: [...values, null] }
    return typeof only['type'] === 'string'
      ? { ...only, type: [only['type'], 'null'] }
      : { anyOf: [only, { type: 'null' }] }
  }
}
