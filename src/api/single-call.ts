import * as v from 'valibot'
import type { Infer } from '../call/infer.ts'
import { CallJson } from './calls.ts'
import { CostPart } from './costs.ts'

/** The body of `GET /api/calls/:id`. */
export const SingleCall = v.object({
  ...CallJson.entries,
  /** Parts that add up to `cost_usd`; null without a price, or if the price has changed since. */
  cost_parts: v.nullable(v.array(CostPart)),
})

export type SingleCall = Infer<typeof SingleCall>
