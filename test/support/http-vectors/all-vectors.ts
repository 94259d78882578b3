import { connectionVectors } from './connection-vectors.ts'
import { fieldVectors } from './field-vectors.ts'
import { framingVectors } from './framing-vectors.ts'
import type { HttpVector } from './http-vector.ts'
import { requestLineVectors } from './request-line-vectors.ts'

/** Written from RFC 9110 and RFC 9112, each with the section that decides it. */
export const allVectors: readonly HttpVector[] = [
  ...requestLineVectors,
  ...fieldVectors,
  ...framingVectors,
  ...connectionVectors,
]
