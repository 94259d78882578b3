import type { PriceProblem } from '../api/costs.ts'
import { placeInJson, readJson } from '../json/json-text.ts'
import { checkModelCosts } from './check-model-costs.ts'
import { CheckedValue, WrongValue } from './checked-value.ts'
import type { ModelCosts } from './model-costs.ts'

export type ModelCostsReading = { readonly costs: ModelCosts } | { readonly problem: PriceProblem }

/** Reads a price file's text: its content, or the first thing that is wrong with it and where. Never throws. */
export function readModelCosts(text: string): ModelCostsReading {
  // Some editors begin a file with a mark of its byte order.
  const content = text.replace(/^\uFEFF/, '')
  const reading = readJson(content)
  if ('message' in reading) return { problem: reading }
  try {
    return { costs: checkModelCosts(new CheckedValue(reading.value)) }
  } catch (error) {
    if (!(error instanceof WrongValue)) throw error
    const { line, column } = placeInJson(content, error.path, error.at)
    return { problem: { message: `${error.message}.`, line, column } }
  }
}
