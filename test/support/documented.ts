import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { ApiDocument } from '../../build/openapi.ts'
import { asRecord } from './json-record.ts'

/** An answer as it came. */
interface GivenAnswer {
  readonly method: string
  readonly target: string
  readonly status: number
  readonly contentType: string | null
  /** Undefined if it was not read to its end, or is packed. */
  readonly body: string | undefined
  /** Its error is one that a scripted part made up for the route. */
  readonly isScripted?: boolean
}

type Document = ApiDocument & { readonly [path: string]: unknown }

/** Holds answers against a document of the API: each must be one that it tells of, with no member that it does not name. */
class Documented {
  readonly #document: Document
  readonly #ajv = new Ajv2020({ strict: false })
  readonly #paths: readonly (readonly [pattern: RegExp, path: string])[]
  readonly #schemas = new Map<string, ValidateFunction>()
  /** Codes that some route names: those that do not are not to answer with it. */
  readonly #namedCodes = new Set<unknown>()

  constructor(name: string) {
    const text = readFileSync(new URL(`../../dist/${name}`, import.meta.url), 'utf8')
    this.#document = JSON.parse(text, closed) as Document
    this.#ajv.addSchema(this.#document, name)
    const paths = Object.keys(this.#document.paths)
    this.#paths = paths.map((path) => [new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`), path])
    for (const operations of Object.values(this.#document.paths)) {
      for (const { responses } of Object.values(operations)) {
        for (const response of Object.values(responses)) {
          for (const code of codesOf(response)) this.#namedCodes.add(code)
        }
      }
    }
  }

  /** Fails if the document does not tell of an answer; a path that it does not know is somebody else's. */
  expect(name: string, { method, target, status, contentType, body, isScripted = false }: GivenAnswer): void {
    const [asked = ''] = target.split('?', 1)
    const path = this.#paths.find(([pattern]) => pattern.test(asked))?.[1]
    if (path === undefined || method === 'HEAD' || status === 304) return
    const verb = method.toLowerCase()
    const operation = this.#document.paths[path]?.[verb]
    const what = `${method} ${path}: ${status}`
    if (operation === undefined) return assert.ok([404, 405, 501].includes(status) || status < 500, what)
    const told = operation.responses[status] ?? (status >= 400 ? operation.responses['default'] : undefined)
    assert.ok(told !== undefined, `${what} is not in ${name}`)
    const content = asRecord(asRecord(told)['content'])
    const type = Object.keys(content).find((one) => one === '*/*' || contentType?.startsWith(one) === true)
    if (Object.keys(content).length === 0) return
    assert.ok(type !== undefined, `${what} has the type ${contentType}, which is not in ${name}`)
    if (type !== 'application/json' || body === undefined) return
    const value: unknown = JSON.parse(body)
    const response = operation.responses[status] === undefined ? 'default' : String(status)
    const steps = ['paths', path, verb, 'responses', response, 'content', type, 'schema']
    const validate = this.#schemaAt(`${name}#/${steps.map(escaped).join('/')}`)
    const isGood = validate(value)
    assert.ok(
      isGood,
      `${what} is not as ${name} says: ${this.#ajv.errorsText(validate.errors)}\n${body.slice(0, 300)}`,
    )
    const code = asRecord(asRecord(value)['error'])['code']
    if (this.#namedCodes.has(code) && !isScripted)
      assert.ok(codesOf(told).includes(code), `${what} does not name ${String(code)}`)
  }

  #schemaAt(pointer: string): ValidateFunction {
    const known = this.#schemas.get(pointer) ?? this.#ajv.compile({ $ref: pointer })
    this.#schemas.set(pointer, known)
    return known
  }
}

/** Objects of the document are open, as later versions may tell more; here every member has to be told. */
function closed(_: string, value: unknown): unknown {
  const schema = asRecord(value)
  const isOpen = schema['type'] === 'object' && !('additionalProperties' in schema) && 'properties' in schema
  return isOpen ? { ...schema, additionalProperties: false } : value
}

function codesOf(response: unknown): readonly unknown[] {
  const codes = asRecord(response)['x-codes']
  return Array.isArray(codes) ? codes : []
}

function escaped(step: string): string {
  return encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))
}

const documents = new Map<string, Documented>()

/** Fails if a document does not tell of an answer: that of the dashboard, unless another is named. */
export function expectDocumented(answer: GivenAnswer, name = 'openapi.json'): void {
  const document = documents.get(name) ?? new Documented(name)
  documents.set(name, document)
  document.expect(name, answer)
}
